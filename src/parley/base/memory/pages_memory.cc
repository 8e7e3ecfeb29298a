#include "parley/base/memory/pages_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "parley/base/files.h"

namespace parley {
namespace {

constexpr size_t kCacheLine = 64, kMemoryPage = 4096, kHuge = 2 << 20, kFileStep = 64 << 20;

/// Less than a page lies on the heap: a simulation may have a million owners of a few rows each.
constexpr bool on_heap(size_t bytes) { return bytes < kMemoryPage; }

size_t rounded(size_t bytes) {
  const size_t unit = on_heap(bytes) ? kCacheLine : bytes < kHuge ? kMemoryPage : kHuge;
  return (bytes + unit - 1) / unit * unit;
}

/// As operator new does it.
[[noreturn]] void out_of_memory() {
  if (const auto handler = std::get_new_handler()) handler();
  throw std::bad_alloc();
}

/// Fresh pages that begin where a huge one can: huge pages that move there with mremap stay huge.
std::byte* reserve_at_huge_page(size_t bytes) {
  const size_t slack = bytes < kHuge ? 0 : kHuge;
  void* const got =
      ::mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) out_of_memory();
  auto* const pages = static_cast<std::byte*>(got);
  const size_t before = slack == 0 ? 0 : -reinterpret_cast<uintptr_t>(got) % kHuge;
  if (before > 0) ::munmap(pages, before);
  if (slack > before) ::munmap(pages + before + bytes, slack - before);
  return pages + before;
}

/// Zeros, from the start of a cache line to beyond the end of one, as pages have them.
std::byte* heap_zeros(size_t bytes) {
  void* const got = std::aligned_alloc(kCacheLine, bytes + kCacheLine);
  if (got == nullptr) out_of_memory();
  return static_cast<std::byte*>(std::memset(got, 0, bytes + kCacheLine));
}

/// A file without a name, or -1.
int open_unnamed(const std::filesystem::path& folder) {
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  std::string name = folder / "rows.XXXXXX";  // Where the file system cannot: unlinked at once.
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

/// 0, or why not.
int write_at_start(int file, const std::byte* from, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t put = ::pwrite(file, from + done, bytes - done, static_cast<off_t>(done));
    if (put < 0 && errno != EINTR) return errno;
    if (put > 0) done += static_cast<size_t>(put);
  }
  return 0;
}

void give_back(std::byte* data, size_t bytes) {
  if (on_heap(bytes))
    std::free(data);
  else
    ::munmap(data, bytes);
}

}  // namespace

PageMemory::PageMemory(PageMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      mapped_(std::exchange(other.mapped_, 0)),
      room_(std::exchange(other.room_, 0)),
      written_(std::exchange(other.written_, 0)),
      file_(std::exchange(other.file_, -1)),
      use_(std::exchange(other.use_, nullptr)) {}

PageMemory& PageMemory::operator=(PageMemory other) noexcept {
  std::swap(data_, other.data_);
  std::swap(mapped_, other.mapped_);
  std::swap(room_, other.room_);
  std::swap(written_, other.written_);
  std::swap(file_, other.file_);
  std::swap(use_, other.use_);
  return *this;
}

PageMemory::~PageMemory() {
  give_back(data_, mapped_);
  if (in_file())
    ::close(file_);
  else if (use_)
    use_->bytes -= mapped_;
}

bool PageMemory::fits(size_t bytes) const {
  return !use_ || use_->bytes - mapped_ + bytes <= use_->limit.bytes;
}

bool PageMemory::grow(size_t used, size_t bytes) {
  if (!in_file()) {
    const size_t ample = rounded(std::max(2 * mapped_, bytes)), enough = rounded(bytes);
    if (fits(ample)) return grow_in_memory(ample), true;
    if (fits(enough)) return grow_in_memory(enough), true;
    if (use_->failure || !move_to_file(used)) return false;
  }
  return !use_->failure && grow_file(used, bytes);
}

void PageMemory::grow_in_memory(size_t bytes) {
  std::byte* const pages = on_heap(bytes) ? heap_zeros(bytes) : reserve_at_huge_page(bytes);
  if (on_heap(mapped_)) {
    if (mapped_ > 0) std::memcpy(pages, data_, mapped_);
    give_back(data_, mapped_);
  } else {
    check(::mremap(data_, mapped_, mapped_, MREMAP_MAYMOVE | MREMAP_FIXED, pages) == pages);
  }
  if (bytes >= kHuge) ::madvise(pages, bytes, MADV_HUGEPAGE);  // A wish: without, only slower.
  if (use_) use_->bytes += bytes - mapped_;
  data_ = pages;
  mapped_ = room_ = bytes;
}

/// All or nothing: what is there stays readable if the file cannot have it.
bool PageMemory::move_to_file(size_t used) {
  const auto made = make_directories(use_->limit.folder);
  if (!made) return use_->failure = made.error(), false;
  PageMemory moved(use_);
  moved.file_ = open_unnamed(use_->limit.folder);
  if (!moved.in_file()) return fail(errno);
  if (!moved.extend_file(used + kWindow)) return false;
  if (const int reason = write_at_start(moved.file_, data_, used); reason != 0) return fail(reason);
  *this = std::move(moved);
  return true;
}

/// Called once per window, to let go of what lies behind.
bool PageMemory::grow_file(size_t used, size_t bytes) {
  if (used > written_) {
    ::sync_file_range(file_, static_cast<off_t>(written_), static_cast<off_t>(used - written_),
                      SYNC_FILE_RANGE_WRITE);
    release(written_, used);
    written_ = used / kMemoryPage * kMemoryPage;
  }
  const size_t step = std::clamp(mapped_ / 4, kWindow, kFileStep);
  if (bytes > mapped_ && !extend_file(std::max(bytes, mapped_ + step))) return false;
  room_ = std::min(mapped_, std::max(bytes, used + kWindow));
  return true;
}

bool PageMemory::extend_file(size_t bytes) {
  bytes = rounded(bytes);
  // Room on the disk now, or touching a page of it would end the process.
  if (const int reason = ::posix_fallocate(file_, 0, static_cast<off_t>(bytes)); reason != 0)
    return fail(reason);
  void* pages = mapped_ == 0 ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0)
                             : ::mremap(data_, mapped_, bytes, MREMAP_MAYMOVE);
  if (pages == MAP_FAILED) return fail(errno);
  ::madvise(pages, bytes, MADV_SEQUENTIAL);
  data_ = static_cast<std::byte*>(pages);
  mapped_ = bytes;
  return true;
}

void PageMemory::release(size_t begin, size_t end) const {
  if (!in_file() || begin >= end) return;
  begin = begin / kMemoryPage * kMemoryPage;
  ::madvise(data_ + begin, end - begin, MADV_DONTNEED);  // Shared pages: nothing is lost.
}

bool PageMemory::fail(int reason) {
  const std::string folder = use_->limit.folder.string();
  use_->failure = Error{Code::kFailed,
                        "the rows need more memory than the limit, and the file for them in " +
                            folder + " cannot grow: " + std::strerror(reason),
                        "Make room in that folder, or raise the limit (limits.memory_mb of the "
                        "policy, or --memory-mb)."};
  return false;
}

}  // namespace parley
