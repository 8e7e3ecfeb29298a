// What Debian 12's compiler library takes from glibc 2.35, for systems with glibc 2.34: in which file an address lies,
// and where that file's table for unwinding is (gcc's unwind-dw2-fde-dip.c asks when something is thrown).
#include <link.h>

namespace {

struct Search {
  ElfW(Addr) address;
  dl_find_object* found;
};

int look(dl_phdr_info* file, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  ElfW(Addr) begin = 0, end = 0, table = 0;
  for (int i = 0; i < file->dlpi_phnum; ++i) {
    const auto& part = file->dlpi_phdr[i];
    const ElfW(Addr) at = file->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_GNU_EH_FRAME) table = at;
    if (part.p_type != PT_LOAD || search.address < at || search.address >= at + part.p_memsz) continue;
    begin = at;
    end = at + part.p_memsz;
  }
  if (!end || !table) return 0;
  *search.found = {};
  search.found->dlfo_map_start = reinterpret_cast<void*>(begin);
  search.found->dlfo_map_end = reinterpret_cast<void*>(end);
  search.found->dlfo_eh_frame = reinterpret_cast<void*>(table);
  return 1;
}

}  // namespace

extern "C" int _dl_find_object(void* address, dl_find_object* found) noexcept {
  Search search{reinterpret_cast<ElfW(Addr)>(address), found};
  return dl_iterate_phdr(look, &search) == 1 ? 0 : -1;
}
