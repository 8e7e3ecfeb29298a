#include "support/disk.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "parley/base/result.h"

namespace parley::test {
namespace {

using Kind = DiskStep::Kind;

void patch(std::optional<std::string>& content, const DiskStep& step, size_t size) {
  if (step.kind == Kind::kRemove) return content.reset();
  if (!content) content.emplace();
  if (step.kind == Kind::kTruncate) content->resize(std::min(content->size(), step.offset));
  if (step.kind != Kind::kWrite) return;
  content->resize(std::max(content->size(), step.offset + size), '\0');
  content->replace(step.offset, size, step.bytes, 0, size);
}

std::string last_part(const char* path) {
  const char* slash = path ? std::strrchr(path, '/') : nullptr;
  return slash ? slash + 1 : path ? path : "";
}

/// An open file: ours in front of the real one.
struct Front {
  sqlite3_file base;
  char name[256];
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

Front* front(sqlite3_file* file) { return reinterpret_cast<Front*>(file); }

}  // namespace

struct Disk::Shim {
  sqlite3_vfs vfs;
  sqlite3_vfs* real;
  std::vector<DiskStep> steps{};
  std::optional<DiskFault> fault{};
  size_t met = 0;  // how often the fault was met

  static Shim* active;

  /// SQLITE_OK, or how this step fails. Of a write that fails a part arrives.
  int next(sqlite3_file* real_file, DiskStep step) {
    if (fault && (fault->at <= 1)) {
      ++met;
      const auto part = static_cast<size_t>(fault->written * double(step.bytes.size()));
      if (step.kind == Kind::kWrite && part > 0)
        real_file->pMethods->xWrite(real_file, step.bytes.data(), static_cast<int>(part),
                                    static_cast<sqlite3_int64>(step.offset));
      const int code = fault->code;
      if (!fault->for_good) fault.reset();
      return code;
    }
    if (fault) --fault->at;
    steps.push_back(std::move(step));
    return SQLITE_OK;
  }
};

Disk::Shim* Disk::Shim::active = nullptr;

namespace {

template <auto Member, class... Arguments>
int pass(sqlite3_file* file, Arguments... arguments) {
  sqlite3_file* real = front(file)->real();
  return (real->pMethods->*Member)(real, arguments...);
}

}  // namespace

Disk::Disk() : shim_(new Shim{}) {
  check(Shim::active == nullptr);
  Shim::active = shim_.get();
  shim_->real = sqlite3_vfs_find(nullptr);
  shim_->vfs = *shim_->real;
  sqlite3_vfs& vfs = shim_->vfs;
  vfs.zName = "parley-test-disk";
  vfs.pNext = nullptr;
  vfs.szOsFile += static_cast<int>(sizeof(Front));
  static sqlite3_io_methods methods{};
  methods.iVersion = 2;
  methods.xClose = [](sqlite3_file* f) { return pass<&sqlite3_io_methods::xClose>(f); };
  methods.xRead = [](sqlite3_file* f, void* into, int size, sqlite3_int64 at) {
    return pass<&sqlite3_io_methods::xRead>(f, into, size, at);
  };
  methods.xWrite = [](sqlite3_file* f, const void* from, int size, sqlite3_int64 at) {
    const std::string bytes(static_cast<const char*>(from), static_cast<size_t>(size));
    const int failed =
        Shim::active->next(front(f)->real(), {Kind::kWrite, front(f)->name, size_t(at), bytes});
    return failed ? failed : pass<&sqlite3_io_methods::xWrite>(f, from, size, at);
  };
  methods.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) {
    const int failed =
        Shim::active->next(front(f)->real(), {Kind::kTruncate, front(f)->name, size_t(size), {}});
    return failed ? failed : pass<&sqlite3_io_methods::xTruncate>(f, size);
  };
  methods.xSync = [](sqlite3_file* f, int) {
    return Shim::active->next(front(f)->real(), {Kind::kSync, front(f)->name, 0, {}});
  };
  methods.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) {
    return pass<&sqlite3_io_methods::xFileSize>(f, size);
  };
  methods.xLock = [](sqlite3_file* f, int how) { return pass<&sqlite3_io_methods::xLock>(f, how); };
  methods.xUnlock = [](sqlite3_file* f, int how) {
    return pass<&sqlite3_io_methods::xUnlock>(f, how);
  };
  methods.xCheckReservedLock = [](sqlite3_file* f, int* out) {
    return pass<&sqlite3_io_methods::xCheckReservedLock>(f, out);
  };
  methods.xFileControl = [](sqlite3_file* f, int op, void* argument) {
    return pass<&sqlite3_io_methods::xFileControl>(f, op, argument);
  };
  methods.xSectorSize = [](sqlite3_file* f) { return pass<&sqlite3_io_methods::xSectorSize>(f); };
  // As of every disk; and nothing that would let SQLite leave out a sync.
  methods.xDeviceCharacteristics = [](sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; };
  methods.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
    return pass<&sqlite3_io_methods::xShmMap>(f, page, size, extend, out);
  };
  methods.xShmLock = [](sqlite3_file* f, int offset, int n, int flags) {
    return pass<&sqlite3_io_methods::xShmLock>(f, offset, n, flags);
  };
  methods.xShmBarrier = [](sqlite3_file* f) {
    front(f)->real()->pMethods->xShmBarrier(front(f)->real());
  };
  methods.xShmUnmap = [](sqlite3_file* f, int remove) {
    return pass<&sqlite3_io_methods::xShmUnmap>(f, remove);
  };
  vfs.xOpen = [](sqlite3_vfs*, const char* name, sqlite3_file* f, int flags, int* out) {
    Front* file = new (f) Front{};
    std::strncpy(file->name, last_part(name).c_str(), sizeof file->name - 1);
    sqlite3_vfs* real = Shim::active->real;
    const int result = real->xOpen(real, name, file->real(), flags, out);
    file->base.pMethods = file->real()->pMethods ? &methods : nullptr;
    return result;
  };
  vfs.xDelete = [](sqlite3_vfs*, const char* name, int) {
    const int failed = Shim::active->next(nullptr, {Kind::kRemove, last_part(name), 0, {}});
    sqlite3_vfs* real = Shim::active->real;
    return failed ? failed : real->xDelete(real, name, 0);
  };
  vfs.xAccess = [](sqlite3_vfs*, const char* name, int flags, int* out) {
    sqlite3_vfs* real = Shim::active->real;
    return real->xAccess(real, name, flags, out);
  };
  vfs.xFullPathname = [](sqlite3_vfs*, const char* name, int size, char* out) {
    sqlite3_vfs* real = Shim::active->real;
    return real->xFullPathname(real, name, size, out);
  };
  check(sqlite3_vfs_register(&vfs, 1) == SQLITE_OK);
}

Disk::~Disk() {
  sqlite3_vfs_unregister(&shim_->vfs);
  sqlite3_vfs_register(shim_->real, 1);
  Shim::active = nullptr;
}

const std::vector<DiskStep>& Disk::steps() const { return shim_->steps; }
void Disk::forget_steps() { shim_->steps.clear(); }
void Disk::fail(const DiskFault& fault) {
  shim_->fault = fault;
  shim_->met = 0;
}
bool Disk::heal() {
  shim_->fault.reset();
  return shim_->met > 0;
}

void Platter::apply(const DiskStep& step) {
  if (step.kind == Kind::kSync) {
    durable_ = current_;
    pending_.clear();
    return;
  }
  patch(current_, step, step.bytes.size());
  pending_.push_back(step);
}

std::optional<std::string> Platter::as_chance_has_it(std::mt19937_64& random) const {
  constexpr size_t kSector = 512;
  // A file that was removed and made again is another one: the name means one or the other.
  const auto removed = std::find_if(pending_.rbegin(), pending_.rend(), [](const DiskStep& step) {
    return step.kind == Kind::kRemove;
  });
  auto begin = pending_.begin(), end = pending_.end();
  std::optional<std::string> content = durable_;
  if (removed != pending_.rend()) {
    const bool is_gone = random() % 2 == 0;
    (is_gone ? begin : end) = removed.base() - (is_gone ? 0 : 1);
    if (is_gone) content.reset();
  }
  for (auto step = begin; step != end; ++step) {
    const size_t size = step->bytes.size();
    const uint64_t fate = random() % 4;  // lost, or cut at a sector, or whole
    if (fate == 0 || step->kind == Kind::kRemove) continue;
    patch(content, *step, fate == 1 ? random() % (size / kSector + 1) * kSector : size);
  }
  return content;
}

std::optional<std::string> Platter::torn(const DiskStep& step, size_t bytes) const {
  std::optional<std::string> content = current_;
  patch(content, step, std::min(bytes, step.bytes.size()));
  return content;
}

}  // namespace parley::test
