// Calls the fastest kernel of three stencils, on a stream of its own and in a graph, and a kernel
// on a table of neighbours. Without a GPU it ends with status 77.
#include "calls.hpp"

#include <icobench/gpu/native_launcher.hpp>

namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) {
    std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
    std::exit(1);
  }
}

template <class T>
T* upload(const std::vector<T>& values) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, values.size() * sizeof(T)));
  check(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}

void download(model::array& to, const double* from) {
  check(cudaMemcpy(to.values.data(), from, to.values.size() * sizeof(double),
                   cudaMemcpyDeviceToHost));
}

bool run() {
  model::fields f = model::make_fields(model::planes), reference = f;
  model::compute(reference, model::colour_by_colour);
  const auto place = [](const model::array& a) { return upload(a.values); };
  double* const cell = place(f.cell);
  double* const edge = place(f.edge);
  const icobench::gpu::current_device device;
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

  bool right = true;
  using backend = icobench::gpu::native_backend;
  if (device.limits().bulk_copies) {
    const auto march = calls::march<backend>(device, f, place, cell);
    march(stream);
    check(cudaStreamSynchronize(stream));
    download(f.cell, cell);
    right &= model::agree("march", f.cell, reference.cell);

    check(cudaMemset(cell, 0xff, f.cell.values.size() * sizeof(double)));
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    march(stream);
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&executable, graph, 0));
    check(cudaGraphLaunch(executable, stream));
    check(cudaStreamSynchronize(stream));
    download(f.cell, cell);
    right &= model::agree("march in a graph", f.cell, reference.cell);
  } else {
    std::printf("march: needs sm_90, not run on %s\n", device.limits().architecture.c_str());
  }

  calls::table<backend>(device, f, place, upload(calls::diamonds()), edge)(stream);
  check(cudaStreamSynchronize(stream));
  download(f.edge, edge);
  return model::agree("table", f.edge, reference.edge) && right;
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("no GPU\n");
    return 77;
  }
  return run() ? 0 : 1;
}
