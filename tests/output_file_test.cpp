// Files that programs write: nothing is lost, nothing is left behind.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <icobench/errors.hpp>
#include <icobench/grids/hash.hpp>
#include <icobench/grids/output_file.hpp>

#include "tests/scratch_folder.hpp"

namespace icobench::test {
namespace {

namespace fs = std::filesystem;

class output : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string make(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  std::string content(const std::string& name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string refusal(const std::string& target) const {
    try {
      output_file("--dump", target);
    } catch (const input_error& error) { return error.what(); }
    return "";
  }
  std::size_t files() const { return folder_.files().size(); }

 private:
  scratch_folder folder_;
};

TEST_F(output, replaces_a_whole_file) {
  make("a", "old");
  ASSERT_EQ(::chmod(path("a").c_str(), 0640), 0);
  output_file("--dump", path("a")).write("new");
  EXPECT_EQ(content("a"), "new");
  struct stat found {};
  ASSERT_EQ(::stat(path("a").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0640u);
  const output_file failing("", path("a"));
  EXPECT_THROW(failing.write_by([](const std::string& part) {
    std::ofstream(part) << "half";
    throw input_error("no more");
  }),
               input_error);
  EXPECT_EQ(content("a"), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(output, what_may_not_be_replaced) {
  EXPECT_NE(refusal(path("no/file")).find("there is no folder " + path("no")), std::string::npos);
  EXPECT_NE(refusal(path("")).find("is a folder"), std::string::npos);
  EXPECT_NE(refusal("/dev/null").find("no regular file"), std::string::npos);
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusal(path("pipe")),
            "--dump " + path("pipe") + ": is no regular file, and is not replaced");
  make("a", "old");
  EXPECT_THROW(output_file("", path("a"), {}, overwrite::no), input_error);
  EXPECT_THROW(output_file("", path("a"), {path("./a")}), input_error);
  if (::geteuid() != 0) {
    ASSERT_EQ(::chmod(path("a").c_str(), 0400), 0);
    EXPECT_NE(refusal(path("a")).find("Permission denied"), std::string::npos);
  }
  EXPECT_EQ(content("a"), "old");
  EXPECT_EQ(files(), 2u);
}

// Links are followed, also to what is not there yet; others in the folder are not touched.
TEST_F(output, of_a_link_is_its_target) {
  make("there", "old");
  fs::create_symlink("there", path("link"));
  fs::create_symlink("link", path("second"));
  output_file("", path("second")).write("new");
  EXPECT_EQ(content("there"), "new");
  EXPECT_TRUE(fs::is_symlink(path("second")) && fs::is_symlink(path("link")));
  fs::create_symlink("absent", path("dangling"));
  output_file("", path("dangling")).write("made");
  EXPECT_EQ(content("absent"), "made");
  make("precious", "precious");
  fs::create_symlink("precious", path("a.part"));
  make("b.part", "mine");
  for (const char* name : {"a", "b"}) { output_file("", path(name)).write("new"); }
  EXPECT_EQ(content("precious"), "precious");
  EXPECT_TRUE(fs::is_symlink(path("a.part")));
  EXPECT_EQ(content("b.part"), "mine");
  EXPECT_THROW(output_file("", path("link"), {}, overwrite::no), input_error);
  fs::create_symlink("loop", path("loop"));
  EXPECT_NE(refusal(path("loop")), "");
}

// The disk is full: here, files may not be larger.
TEST_F(output, that_cannot_be_completed) {
  make("a", "old");
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &small);
    try {
      output_file("", path("a")).write(std::string(5000, 'x'));
    } catch (const input_error& error) {
      ::_exit(std::string(error.what()).ends_with("a: cannot be written: File too large") ? 0 : 1);
    }
    ::_exit(2);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(content("a"), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(output, is_removed_when_the_program_is_ended) {
  make("a", "old");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const pid_t child = ::fork();
    if (child == 0) {
      output_file("", path("a")).write_by([&](const std::string& part) {
        std::ofstream(part) << "half";
        std::raise(signal);
      });
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_EQ(content("a"), "old");
    EXPECT_EQ(files(), 1u);
  }
}

TEST(hash, is_fnv_1a) {
  EXPECT_EQ(hash_of(""), 0xcbf29ce484222325u);
  EXPECT_EQ(hash_of("foobar"), 0x85944171f73967e8u);
  EXPECT_EQ(hash_of("bar", hash_of("foo")), hash_of("foobar"));
}

}  // namespace
}  // namespace icobench::test
