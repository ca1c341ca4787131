// The machinery behind simt.hpp: fibers, and the scheduler that runs the threads of a block on
// them.
//
// A GPU thread gets a stack of its own only when it has to wait. A fiber runs one thread after the
// other until one of them waits; the next threads then go on on another fiber. A kernel without
// barriers therefore runs a whole block on one fiber, at the price of a plain loop. Waiting threads
// switch directly to the next thread that can run, not through a central loop.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <icobench/gpu/dim3.hpp>
#include <icobench/types.hpp>

#if defined(__SANITIZE_ADDRESS__)
#define ICOBENCH_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ICOBENCH_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(ICOBENCH_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#endif

namespace icobench::gpu {

// A kernel broke a rule of the GPU. The message names the rule, the block, the threads and the
// line.
class simt_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Which of the threads that could run goes first; blocks follow the same order. Two accesses that
// no barrier separates come one way round in forward and the other way round in reverse.
enum class thread_order { forward, reverse, random };

struct simt_settings {
  unsigned warp_size = 32;  // 32 or 64
  thread_order order = thread_order::forward;
  unsigned seed = 1;  // of the random order
};

// A place in the source. std::source_location would say the same, but clang 14 does not have it.
struct source_place {
  const char* file = "";
  unsigned line = 0;

  static constexpr source_place here(const char* file = __builtin_FILE(),
                                     unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

inline bool operator==(source_place a, source_place b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

namespace detail {

class block_scheduler;

// AddressSanitizer has to know on which stack the program runs, or it takes frames for overflows.
inline void announce_switch([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* bottom,
                            [[maybe_unused]] std::size_t size) {
#if defined(ICOBENCH_ADDRESS_SANITIZER)
  __sanitizer_start_switch_fiber(fake_stack, bottom, size);
#endif
}

inline void complete_switch([[maybe_unused]] void* fake_stack,
                            [[maybe_unused]] const void** old_bottom,
                            [[maybe_unused]] std::size_t* old_size) {
#if defined(ICOBENCH_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(fake_stack, old_bottom, old_size);
#endif
}

// A point at which execution can be suspended: a fiber, or the caller of the launch.
struct execution_context {
  boost::context::detail::fcontext_t handle = nullptr;
  const void* stack_bottom = nullptr;
  std::size_t stack_size = 0;
  void* fake_stack = nullptr;               // AddressSanitizer's, while suspended
  execution_context* going_to = nullptr;    // set while switching away
  execution_context* resumed_by = nullptr;  // set on every arrival
};

// Completes a switch on the stack where it ends. Bounds of the stack it came from are taken from
// the sanitizer, since nobody else knows those of the caller's stack.
inline void arrive(execution_context& self, boost::context::detail::transfer_t from) {
  self.resumed_by = static_cast<execution_context*>(from.data);
  self.resumed_by->handle = from.fctx;
  complete_switch(self.fake_stack, &self.resumed_by->stack_bottom, &self.resumed_by->stack_size);
}

// Suspends `self` and goes on in `target`; returns when something switches back.
inline void switch_to(execution_context& self, execution_context& target) {
  self.going_to = &target;
  announce_switch(&self.fake_stack, target.stack_bottom, target.stack_size);
  arrive(self, boost::context::detail::jump_fcontext(target.handle, &self));
}

// Leaves `self` for ever.
inline void leave_for(execution_context& self, execution_context& target) {
  self.going_to = &target;
  announce_switch(nullptr, target.stack_bottom, target.stack_size);
  boost::context::detail::jump_fcontext(target.handle, &self);
}

// 256 KiB above a page that must not be touched, so that an overflow ends the program there and
// then.
class fiber_stack {
 public:
  static constexpr std::size_t size = std::size_t{256} << 10;

  fiber_stack() : guard_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
    base_ = ::mmap(nullptr, guard_ + size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base_ == MAP_FAILED) throw std::bad_alloc();
    if (::mprotect(base_, guard_, PROT_NONE) != 0) {
      ::munmap(base_, guard_ + size);
      throw std::bad_alloc();
    }
  }
  fiber_stack(const fiber_stack&) = delete;
  fiber_stack& operator=(const fiber_stack&) = delete;
  ~fiber_stack() { ::munmap(base_, guard_ + size); }

  std::byte* bottom() const { return static_cast<std::byte*>(base_) + guard_; }
  std::byte* top() const { return bottom() + size; }

 private:
  std::size_t guard_;
  void* base_ = nullptr;
};

// A stack and the loop that runs GPU threads on it, for one launch after another.
struct fiber : execution_context {
  fiber_stack stack;
  block_scheduler* job = nullptr;  // whose threads to run; null: end

  fiber() {
    handle = boost::context::detail::make_fcontext(stack.top(), fiber_stack::size, &fiber::run);
    stack_bottom = stack.bottom();
    stack_size = fiber_stack::size;
  }

  static void run(boost::context::detail::transfer_t from);
};

// The fibers of one operating-system thread. They outlive launches, because making a stack costs
// more than a small launch.
class fiber_pool {
 public:
  static fiber_pool& of_this_thread() {
    static thread_local fiber_pool pool;
    return pool;
  }

  fiber_pool() = default;
  fiber_pool(const fiber_pool&) = delete;
  fiber_pool& operator=(const fiber_pool&) = delete;

  // Every fiber is idle here. It is resumed once more to end its loop, so that the sanitizer can
  // free what it keeps for it.
  ~fiber_pool() {
    execution_context here;
    for (auto& each : fibers_) {
      each->job = nullptr;
      switch_to(here, *each);
    }
  }

  fiber& take(block_scheduler& job) {
    if (idle_.empty()) {
      idle_.reserve(fibers_.size() + 1);  // so that give_back cannot fail
      fibers_.push_back(std::make_unique<fiber>());
      idle_.push_back(fibers_.back().get());
    }
    fiber& taken = *idle_.back();
    idle_.pop_back();
    taken.job = &job;
    return taken;
  }

  void give_back(fiber& done) noexcept { idle_.push_back(&done); }

 private:
  std::vector<std::unique_ptr<fiber>> fibers_;
  std::vector<fiber*> idle_;
};

struct thread_state;

// Threads that wait for each other: a block or a warp.
struct thread_group {
  const char* barrier_name = "";
  unsigned begin = 0, size = 0;         // ranks of its threads
  unsigned waiting = 0, left = 0;       // how many wait, how many have left the kernel
  const thread_state* waits = nullptr;  // the first of each, for messages
  const thread_state* has_left = nullptr;
};

// A copy that runs by itself.
struct pending_copy {
  void* to;
  const void* from;
  unsigned bytes, group;
};

// What the scheduler knows of one GPU thread.
struct thread_state {
  index3 index;
  unsigned rank = 0;
  fiber* runs_on = nullptr;  // null before it starts
  bool finished = false;
  unsigned parity = 0;                  // which of the two slots the next shuffle uses
  const thread_group* group = nullptr;  // where it waits or waited last
  source_place place;
  alignas(16) std::array<std::array<std::byte, 16>, 2> slots{};
  std::deque<pending_copy> copies;  // in the order of their groups
  unsigned groups = 0;              // how many are complete
  std::vector<const void*> reads;   // barriers of the bulk copies that it may be reading
};

// A barrier of bulk copies. A use is complete when all its calls were made and their bytes copied.
struct bulk_copies {
  unsigned calls = 0;       // of a use
  unsigned made = 0;        // since the last use was complete
  long long announced = 0;  // bytes that are not copied
  unsigned complete = 0;    // uses
  unsigned waits = 0;       // of all threads
  std::vector<std::pair<const std::byte*, std::size_t>> places{};  // of what it brought, and bytes
  bool awaited = false;

  void count(unsigned more_calls, long long bytes) {
    made += more_calls;
    announced += bytes;
    if (made == calls && announced == 0) {
      ++complete;
      made = 0;
    }
  }
};

// Thrown through a kernel to unwind it after an error; not an std::exception, so that no kernel
// mistakes it for one of its own.
struct thread_abandoned {};

// A heap block of exactly the size asked for: AddressSanitizer sees the first byte past it.
class shared_memory {
 public:
  explicit shared_memory(std::size_t bytes)
      : bytes_(bytes), data_(static_cast<std::byte*>(::operator new(bytes, alignment))) {}
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  ~shared_memory() { ::operator delete(data_, alignment); }

  // All bits set is a NaN in every precision: values of the block before would hide a missing
  // barrier.
  void poison() { std::memset(data_, 0xff, bytes_); }
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::align_val_t alignment{128};
  std::size_t bytes_;
  std::byte* data_;
};

inline std::string to_string(index3 at) {
  return "(" + std::to_string(at.x) + "," + std::to_string(at.y) + "," + std::to_string(at.z) + ")";
}

inline std::string to_string(source_place at) {
  return std::string(at.file) + ":" + std::to_string(at.line);
}

// One launch: runs its blocks one after the other, and the threads of a block in turns.
//
// Threads that can run are on a stack. Threads released from a warp barrier are put on top, hence a
// warp runs as far as it can before the next one starts: warps that advanced in step would hide a
// missing block barrier.
//
// Rules are stricter than the hardware's, to find what works by chance on one GPU: every thread of
// the block or warp has to come to each barrier, at the same place, and none may have left.
class block_scheduler {
 public:
  using body_function = void (*)(const void* kernel, block_scheduler&, thread_state&);

  block_scheduler(extent3 grid, extent3 block, std::size_t shared_bytes,
                  const simt_settings& settings, body_function body, const void* kernel);

  void run_grid();

  extent3 grid_dim() const { return grid_dim_; }
  extent3 block_dim() const { return block_dim_; }
  index3 block_index() const { return block_index_; }
  unsigned warp_size() const { return settings_.warp_size; }

  void wait_for_block(thread_state& self, source_place place) { wait(self, block_, place); }
  void wait_for_warp(thread_state& self, source_place place) { wait(self, warp_of(self), place); }

  // The value that the lane `source` of the warp brings along.
  template <class T>
  T exchange(thread_state& self, T value, unsigned source, source_place place);

  std::byte* shared(const thread_state& self, std::size_t offset, source_place place);

  // Bulk copies bring what was announced, before it is waited for, and overwrite nothing that a
  // thread has waited for and not released.
  void make_bulk_barrier(const void* barrier, unsigned calls) { bulk_[barrier] = {.calls = calls}; }
  void expect_bulk(const thread_state& self, const void* barrier, unsigned bytes,
                   source_place place);
  void note_bulk_copy(const thread_state& self, const void* to, std::size_t bytes,
                      const void* barrier, source_place place);
  void note_bulk_wait(thread_state& self, const void* barrier, unsigned phase, source_place place);

  // Ends the launch with an error; `what` follows the block and the thread in the message.
  [[noreturn]] void fail(const thread_state& self, const std::string& rule,
                         const std::string& what);

  // Runs threads on the fiber until it has none to start; returns when it is taken again. The
  // scheduler may be gone by then.
  void work(fiber& self);

 private:
  void run_block();
  void start_block();
  void run_thread(thread_state& self);
  void leave(thread_state& self);
  void wait(thread_state& self, thread_group& group, source_place place);
  void release(thread_group& group);
  void make_ready(unsigned begin, unsigned count);
  thread_state* take_ready();
  execution_context& context_of(thread_state* next);
  void abandon() const;
  void unwind();

  thread_group& warp_of(const thread_state& self) { return warps_[self.rank / warp_size()]; }
  bulk_copies& bulk_of(const thread_state& self, const void* barrier, source_place place);
  void record(const std::string& rule, const std::string& what);
  std::string deadlock() const;

  extent3 grid_dim_, block_dim_;
  simt_settings settings_;
  body_function body_;
  const void* kernel_;

  shared_memory shared_;
  std::minstd_rand random_;
  std::vector<thread_state> threads_;
  std::vector<thread_group> warps_;
  thread_group block_;
  index3 block_index_;
  std::map<const void*, bulk_copies> bulk_;  // by their barriers

  std::vector<thread_state*> ready_;
  thread_state* starting_ = nullptr;  // what a fiber just taken is to run
  execution_context caller_;
  fiber_pool& pool_ = fiber_pool::of_this_thread();
  std::exception_ptr error_;
  int exceptions_before_ = std::uncaught_exceptions();
};

inline void fiber::run(boost::context::detail::transfer_t from) {
  auto& self = static_cast<fiber&>(*static_cast<execution_context*>(from.data)->going_to);
  arrive(self, from);
  while (self.job != nullptr) self.job->work(self);
  leave_for(self, *self.resumed_by);
}

inline block_scheduler::block_scheduler(extent3 grid, extent3 block, std::size_t shared_bytes,
                                        const simt_settings& settings, body_function body,
                                        const void* kernel)
    : grid_dim_(grid),
      block_dim_(block),
      settings_(settings),
      body_(body),
      kernel_(kernel),
      shared_(shared_bytes),
      random_(settings.seed) {
  const auto count = static_cast<unsigned>(block.volume());
  threads_.resize(count);
  for (unsigned rank = 0; rank < count; ++rank) {
    threads_[rank].rank = rank;
    threads_[rank].index = position_of(rank, block);
  }
  warps_.resize(ceil_div(count, warp_size()));
  ready_.reserve(count);
}

// Blocks are visited with a stride that has no divisor in common with their number, which is a
// permutation: 1 is forward, -1 is reverse, any other looks random enough.
inline void block_scheduler::run_grid() {
  const unsigned long long count = grid_dim_.volume();
  unsigned long long block = 0, stride = 1;
  if (settings_.order == thread_order::reverse) {
    block = count - 1;
    stride = count - 1;
  } else if (settings_.order == thread_order::random) {
    block = random_() % count;
    do stride = random_() % count + 1;
    while (std::gcd(stride, count) != 1);
  }
  for (unsigned long long done = 0; done < count; ++done) {
    block_index_ = position_of(block, grid_dim_);
    run_block();
    block = (block + stride) % count;
  }
}

inline void block_scheduler::run_block() {
  start_block();
  switch_to(caller_, context_of(take_ready()));
  if (!error_ && block_.left != block_.size) record("deadlock", deadlock());
  if (error_) {
    unwind();
    std::rethrow_exception(error_);
  }
}

inline void block_scheduler::start_block() {
  shared_.poison();
  const auto count = static_cast<unsigned>(threads_.size());
  for (thread_state& each : threads_) {
    each.runs_on = nullptr;
    each.finished = false;
    each.parity = 0;
    each.copies.clear();
    each.groups = 0;
    each.reads.clear();
  }
  bulk_.clear();
  block_ = {.barrier_name = "block barrier", .begin = 0, .size = count};
  for (unsigned begin = 0; begin < count; begin += warp_size())
    warps_[begin / warp_size()] = {.barrier_name = "warp barrier or shuffle",
                                   .begin = begin,
                                   .size = std::min(warp_size(), count - begin)};
  make_ready(0, count);
}

// Puts threads on the stack so that the first of the order comes to lie on top.
inline void block_scheduler::make_ready(unsigned begin, unsigned count) {
  const auto old_size = static_cast<std::ptrdiff_t>(ready_.size());
  const bool ascending = settings_.order == thread_order::reverse;
  for (unsigned k = 0; k < count; ++k)
    ready_.push_back(&threads_[begin + (ascending ? k : count - 1 - k)]);
  if (settings_.order == thread_order::random)
    std::shuffle(ready_.begin() + old_size, ready_.end(), random_);
}

// The next thread to run; null when there is none or the launch has failed.
inline thread_state* block_scheduler::take_ready() {
  if (ready_.empty() || error_) return nullptr;
  thread_state* next = ready_.back();
  ready_.pop_back();
  return next;
}

// Where to switch to in order to run `next`: its fiber, a new one, or the caller if there is none.
inline execution_context& block_scheduler::context_of(thread_state* next) {
  if (next == nullptr) return caller_;
  if (next->runs_on != nullptr) return *next->runs_on;
  starting_ = next;
  return pool_.take(*this);
}

inline void block_scheduler::work(fiber& self) {
  thread_state* next = starting_;
  do {
    next->runs_on = &self;
    run_thread(*next);
    next = take_ready();
  } while (next != nullptr && next->runs_on == nullptr);
  pool_.give_back(self);
  switch_to(self, context_of(next));
}

// Nothing may switch while an exception is being handled: the runtime keeps those per operating-
// system thread. Hence the handlers only take note.
inline void block_scheduler::run_thread(thread_state& self) {
  try {
    body_(kernel_, *this, self);
    if (!error_) leave(self);
  } catch (const thread_abandoned&) {
  } catch (...) {
    if (!error_) error_ = std::current_exception();
  }
  self.finished = true;
}

inline void block_scheduler::leave(thread_state& self) {
  for (thread_group* group : {&block_, &warp_of(self)}) {
    if (group->waiting > 0)
      fail(self, "a thread left the kernel while others wait",
           "left; thread " + to_string(group->waits->index) + " waits at the " +
               group->barrier_name + " at " + to_string(group->waits->place));
    if (group->left++ == 0) group->has_left = &self;
  }
}

inline void block_scheduler::wait(thread_state& self, thread_group& group, source_place place) {
  if (error_) return abandon();
  if (group.left > 0)
    fail(self, "a thread left the kernel while others wait",
         "waits at the " + std::string(group.barrier_name) + " at " + to_string(place) +
             "; thread " + to_string(group.has_left->index) + " has left");
  if (group.waiting == 0) group.waits = &self;
  if (group.waiting > 0 && !(group.waits->place == place))
    fail(self, "divergent barrier",
         "waits at the " + std::string(group.barrier_name) + " at " + to_string(place) +
             "; thread " + to_string(group.waits->index) + " waits at " +
             to_string(group.waits->place));
  self.group = &group;
  self.place = place;
  if (++group.waiting == group.size) release(group);
  thread_state* next = take_ready();
  if (next != &self) switch_to(*self.runs_on, context_of(next));
  if (error_) abandon();
}

// The last to arrive queues up with the others instead of going on at once: otherwise it would be
// before them in every order, and races with it would not show.
inline void block_scheduler::release(thread_group& group) {
  group.waiting = 0;
  make_ready(group.begin, group.size);
}

template <class T>
T block_scheduler::exchange(thread_state& self, T value, unsigned source, source_place place) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16);
  const unsigned rank = self.rank / warp_size() * warp_size() + source;
  if (rank >= threads_.size())
    fail(self, "shuffle from a lane that does not exist",
         "reads lane " + std::to_string(source) + " at " + to_string(place));
  // Two slots make one barrier enough: no lane can be two shuffles ahead of another.
  const unsigned parity = self.parity;
  self.parity ^= 1;
  std::memcpy(self.slots[parity].data(), &value, sizeof(T));
  wait_for_warp(self, place);
  std::memcpy(&value, threads_[rank].slots[parity].data(), sizeof(T));
  return value;
}

inline std::byte* block_scheduler::shared(const thread_state& self, std::size_t offset,
                                          source_place place) {
  if (offset > shared_.bytes())
    fail(self, "offset beyond the shared memory",
         "asks for byte " + std::to_string(offset) + " of " + std::to_string(shared_.bytes()) +
             " at " + to_string(place));
  return shared_.data() + offset;
}

inline bulk_copies& block_scheduler::bulk_of(const thread_state& self, const void* barrier,
                                             source_place place) {
  const auto found = bulk_.find(barrier);
  if (found == bulk_.end())
    fail(self, "a barrier that was not made", "uses it for bulk copies at " + to_string(place));
  return found->second;
}

inline void block_scheduler::expect_bulk(const thread_state& self, const void* barrier,
                                         unsigned bytes, source_place place) {
  bulk_of(self, barrier, place).count(1, bytes);
}

inline void block_scheduler::note_bulk_copy(const thread_state& self, const void* to,
                                            std::size_t bytes, const void* barrier,
                                            source_place place) {
  const auto* const begin = static_cast<const std::byte*>(to);
  bulk_copies& own = bulk_of(self, barrier, place);
  if (own.announced < static_cast<long long>(bytes))
    fail(self, "a copy that was not announced",
         "copies " + std::to_string(bytes) + " bytes at " + to_string(place) + ", announced are " +
             std::to_string(own.announced));
  bool read = false;
  for (const thread_state& each : threads_) {
    for (const void* other : each.reads) {
      read = read || other == barrier;
      for (const auto& [place_read, size] : bulk_[other].places) {
        if (begin < place_read + size && place_read < begin + bytes)
          fail(self, "a copy overwrites what a thread may read",
               "copies " + std::to_string(bytes) + " bytes at " + to_string(place) + "; thread " +
                   to_string(each.index) + " has not called release_bulk()");
      }
    }
  }
  if (own.awaited && !read) {
    own.places.clear();
    own.awaited = false;
  }
  own.places.emplace_back(begin, bytes);
  own.count(0, -static_cast<long long>(bytes));
}

// All threads of the block have come to the wait.
inline void block_scheduler::note_bulk_wait(thread_state& self, const void* barrier, unsigned phase,
                                            source_place place) {
  bulk_copies& own = bulk_of(self, barrier, place);
  const unsigned use = own.waits++ / static_cast<unsigned>(threads_.size());
  const std::string what =
      "waits for use " + std::to_string(use) + " of a barrier at " + to_string(place);
  if (phase != use % 2) fail(self, "the wrong phase", what + " as phase " + std::to_string(phase));
  if (own.complete != use + 1)
    fail(self, "bulk copies that are not those announced",
         what + "; complete are " + std::to_string(own.complete) + " uses and " +
             std::to_string(own.made) + " of " + std::to_string(own.calls) +
             " calls of expect_bulk, whose bytes are " + std::to_string(own.announced) +
             " more than were copied");
  own.awaited = true;
  if (std::find(self.reads.begin(), self.reads.end(), barrier) == self.reads.end())
    self.reads.push_back(barrier);
}

inline void block_scheduler::record(const std::string& rule, const std::string& what) {
  if (error_) return;
  error_ = std::make_exception_ptr(
      simt_error("simt: " + rule + ": block " + to_string(block_index_) + ", " + what));
}

inline void block_scheduler::fail(const thread_state& self, const std::string& rule,
                                  const std::string& what) {
  record(rule, "thread " + to_string(self.index) + " " + what);
  throw thread_abandoned();
}

// Nothing can run and not all have left, so all that are left wait: names one at each barrier.
inline std::string block_scheduler::deadlock() const {
  std::string message;
  const thread_group* named = nullptr;
  for (const thread_state& each : threads_) {
    if (each.finished || each.group == named) continue;
    named = each.group;
    message += std::string(message.empty() ? "" : "; ") + "thread " + to_string(each.index) +
               " waits at the " + named->barrier_name + " at " + to_string(each.place);
  }
  return message;
}

// Leaves the kernel of an abandoned thread, except from a destructor that waits while the thread is
// being unwound already.
inline void block_scheduler::abandon() const {
  if (std::uncaught_exceptions() == exceptions_before_) throw thread_abandoned();
}

// Resumes what is still suspended in order that its destructors run and its fiber becomes idle.
inline void block_scheduler::unwind() {
  for (thread_state& each : threads_)
    if (each.runs_on != nullptr && !each.finished) switch_to(caller_, *each.runs_on);
}

}  // namespace detail
}  // namespace icobench::gpu
