// What Debian 12's headers and compiler libraries take from glibc 2.35 and 2.36, for systems with glibc 2.34.
#include <link.h>
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

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

/// In which file an address lies, and where that file's table for unwinding is: gcc's unwind-dw2-fde-dip.c asks when
/// something is thrown.
extern "C" int _dl_find_object(void* address, dl_find_object* found) noexcept {
  Search search{reinterpret_cast<ElfW(Addr)>(address), found};
  return dl_iterate_phdr(look, &search) == 1 ? 0 : -1;
}

/// Of libstdc++'s std::random_device, which nothing of ours uses.
extern "C" uint32_t arc4random() noexcept {
  uint32_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != sizeof bits) std::abort();
  return bits;
}

/// Got a second version in 2.35, which differs in how it reports errors only.
extern "C" double hypot_of_any_glibc(double x, double y);
__asm__(".symver hypot_of_any_glibc, hypot@GLIBC_2.2.5");
extern "C" double hypot(double x, double y) noexcept { return hypot_of_any_glibc(x, y); }
