// Makes real Stage move its models in the order of the world file. It moves them
// in the order of their addresses, which malloc leaves to chance; here addresses
// only rise, and nothing is freed.
//
//	g++ -shared -fPIC -O1 rising.cc -o rising.so
//	LD_PRELOAD=./rising.so stage -g FILE.world
#include <cstddef>
#include <new>
#include <sys/mman.h>

static const size_t most = size_t(1) << 36;
static char *next, *end;

void *operator new(size_t n) {
  n = (n + 15) & ~size_t(15);
  if (!next) {
    void *all = mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    next = static_cast<char *>(all), end = next + most;
  }
  if (n > size_t(end - next)) throw std::bad_alloc();
  char *p = next;
  next += n;
  return p;
}

void operator delete(void *) noexcept {}
void operator delete(void *, size_t) noexcept {}
