// Owner of an open netCDF file. Private to grids/.
#pragma once

#include <netcdf.h>

#include <string>
#include <utility>

#include <icobench/grids/grid.hpp>

namespace icobench {

class netcdf_file {
 public:
  netcdf_file(int id, std::string path) : id_(id), path_(std::move(path)) {}
  netcdf_file(const netcdf_file&) = delete;
  netcdf_file& operator=(const netcdf_file&) = delete;
  ~netcdf_file() {
    if (id_ >= 0) nc_close(id_);
  }

  int id() const { return id_; }
  const std::string& path() const { return path_; }

  // Closes and reports what the destructor could not: the last data may fail to be written.
  void close() { check(nc_close(std::exchange(id_, -1)), "cannot finish the file"); }

  // Throws input_error "FILE: WHAT: MESSAGE" unless `status` is success.
  void check(int status, const std::string& what) const {
    if (status != NC_NOERR) fail(what + ": " + nc_strerror(status));
  }

  [[noreturn]] void fail(const std::string& what) const { throw input_error(path_ + ": " + what); }

 private:
  int id_;
  std::string path_;
};

}  // namespace icobench
