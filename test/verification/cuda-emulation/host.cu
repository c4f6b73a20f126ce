// SPDX-License-Identifier: MIT
// Memory, copies, launches, the stream and its capture, as the host sees them.
#include "emulated-test.h"

namespace {

const cudaStream_t stream = cudaStreamPerThread;

struct View {
  void* data;
  int64_t row_stride;
  int32_t columns;
};

__global__ void add(float* values, float addend) { values[threadIdx.x] += addend; }
__global__ void scale(float* out, const float* in, float factor) { out[threadIdx.x] = in[threadIdx.x] * factor; }
__global__ void write_at(float* values, int64_t index) { values[index] = 1; }
__global__ void write_view(View view) { static_cast<float*>(view.data)[0] = 1; }
__global__ void write_vector(float* values) {
  *reinterpret_cast<float4*>(values) = make_float4(values[4], values[5], values[6], values[7]);
}
__global__ void load_pair(float* values) { values[0] = __ldg(reinterpret_cast<const float2*>(values + 1)).x; }
__global__ void nothing() {}
__device__ __attribute__((noinline)) float descend(int depth, const float* from) {
  float kept[1024];
  for (int i = 0; i < 1024; ++i) kept[i] = from[i % 4] + 1;
  return depth == 0 ? kept[7] : descend(depth - 1, kept) + kept[9];
}
__global__ void fill_stack(float* values) { values[0] = descend(100, values); }

float first_of(const float* memory) { return copy_out(memory, 1)[0]; }

void poisoned_allocations() {
  for (const size_t bytes : {4u, 1000u, 70000u}) {
    unsigned char* memory = allocate<unsigned char>(bytes);
    EXPECT(reinterpret_cast<uintptr_t>(memory) % 256 == 0);
    for (const unsigned char byte : copy_out(memory, bytes)) EXPECT(byte == 0xff);
    CHECK(cudaFree(memory));
  }
  CHECK(cudaFree(nullptr));
  void* none = nullptr;
  EXPECT(cudaMalloc(&none, size_t{1} << 60) == cudaErrorMemoryAllocation && none == nullptr);
  EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess);
}

void checked_copies() {
  float *memory = allocate<float>(8), *other = allocate<float>(8), host[8] = {};
  const auto copy = [](void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpyAsync(to, from, bytes, kind, stream);
  };
  CHECK(copy(memory, host, 32, cudaMemcpyHostToDevice));
  EXPECT(copy(memory, host, 36, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(copy(memory + 1, host, 32, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(copy(memory - 1, host, 8, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(copy(host, memory, 36, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  EXPECT(copy(host, memory, 32, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(copy(memory, host, 32, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  EXPECT(copy(memory, host, 32, cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);
  CHECK(copy(other, memory, 32, cudaMemcpyDeviceToDevice));
  CHECK(copy(host, other, 32, cudaMemcpyDefault));
  EXPECT(cudaMemcpyAsync(memory, host, 32, cudaMemcpyHostToDevice, nullptr) == cudaErrorInvalidResourceHandle);
  EXPECT(cudaMemsetAsync(memory, 0, 36, stream) == cudaErrorInvalidValue);
  EXPECT(cudaMemsetAsync(host, 0, 4, stream) == cudaErrorInvalidValue);
  CHECK(cudaMemsetAsync(memory, 0, 32, stream));
  EXPECT(first_of(memory) == 0);
  // Two rows of two floats out of rows of four.
  for (int i = 0; i < 8; ++i) host[i] = static_cast<float>(i);
  CHECK(cudaMemcpy2DAsync(memory, 12, host, 16, 8, 2, cudaMemcpyHostToDevice, stream));
  EXPECT(copy_out(memory, 6) == std::vector<float>({0, 1, 0, 4, 5, 0}));
  EXPECT(cudaMemcpy2DAsync(memory, 28, host, 16, 8, 2, cudaMemcpyHostToDevice, stream) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpy2DAsync(memory, 4, host, 16, 8, 2, cudaMemcpyHostToDevice, stream) == cudaErrorInvalidPitchValue);
  CHECK(cudaFree(other));
  EXPECT(copy(other, host, 32, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(cudaFree(other) == cudaErrorInvalidValue && cudaFree(memory + 1) == cudaErrorInvalidValue);
  EXPECT(cudaFreeHost(memory) == cudaErrorInvalidValue);
}

void launch_limits() {
  float* memory = allocate<float>(4);
  CHECK(try_launch(nothing, dim3(3, 65535, 1), 1));
  CHECK(try_launch(nothing, 1, dim3(2, 8, 64)));
  for (const dim3 grid : {dim3(0), dim3(1, 0), dim3(1, 65536), dim3(1, 1, 65536), dim3(0x80000000u)})
    EXPECT(try_launch(nothing, grid, 1) == cudaErrorInvalidConfiguration);
  for (const dim3 block : {dim3(0), dim3(1, 1, 0), dim3(1025), dim3(32, 33), dim3(1, 1, 65), dim3(1, 1025)})
    EXPECT(try_launch(nothing, 1, block) == cudaErrorInvalidConfiguration);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = 1;
  EXPECT(cudaLaunchKernelEx(&config, nothing) == cudaErrorInvalidResourceHandle);
  config.stream = stream;
  config.dynamicSmemBytes = 4;
  EXPECT(cudaLaunchKernelEx(&config, nothing) == cudaErrorNotSupported);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.dynamicSmemBytes = 0;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, nothing));
  float host[4] = {};
  EXPECT(try_launch(add, 1, 4, host, 1.0f) == cudaErrorInvalidValue);
  EXPECT(try_launch(write_view, 1, 1, View{host, 4, 4}) == cudaErrorInvalidValue);
  CHECK(try_launch(write_view, 1, 1, View{memory, 4, 4}));
  CHECK(try_launch(write_view, 1, 1, View{memory, int64_t{1} << 46, 4}));
  synchronize();
}

// Work is done when the host waits for it, not before: what doesn't wait reads what was there.
void late_work() {
  float *memory = copy_in(std::vector<float>{1}), *pinned;
  CHECK(cudaMallocHost(&pinned, 4));
  *pinned = 5;
  launch(add, 1, 1, memory, 2.0f);
  CHECK(cudaMemcpyAsync(pinned, memory, 4, cudaMemcpyDeviceToHost, stream));
  EXPECT(*pinned == 5);
  synchronize();
  EXPECT(*pinned == 3);
  // The other way: what changes before it is copied is copied as it is then.
  *pinned = 7;
  CHECK(cudaMemcpyAsync(memory, pinned, 4, cudaMemcpyHostToDevice, stream));
  *pinned = 8;
  EXPECT(first_of(memory) == 8);
  // Ordinary memory was read when the call returned, and is written when the call returns.
  float ordinary = 10;
  CHECK(cudaMemcpyAsync(memory, &ordinary, 4, cudaMemcpyHostToDevice, stream));
  ordinary = 11;
  launch(add, 1, 1, memory, 0.5f);
  CHECK(cudaMemcpyAsync(&ordinary, memory, 4, cudaMemcpyDeviceToHost, stream));
  EXPECT(ordinary == 10.5f);
}

cudaGraphExec_t capture(void (*start)()) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  start();
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  return executable;
}

float *in, *out, *pinned_in, *pinned_out, factor = 2;

void start_step() {
  CHECK(cudaMemcpyAsync(in, pinned_in, 4, cudaMemcpyHostToDevice, stream));
  launch(scale, 1, 1, out, in, factor);
  launch(add, 1, 1, out, 100.0f);
  CHECK(cudaMemcpyAsync(pinned_out, out, 4, cudaMemcpyDeviceToHost, stream));
}

void captured_work() {
  in = copy_in(std::vector<float>{0});
  out = copy_in(std::vector<float>{0});
  CHECK(cudaMallocHost(&pinned_in, 4));
  CHECK(cudaMallocHost(&pinned_out, 4));
  *pinned_in = 1;
  *pinned_out = -1;
  const cudaGraphExec_t step = capture(start_step);
  synchronize();
  EXPECT(*pinned_out == -1 && first_of(out) == 0);
  factor = 1000;  // the graph has the factor that it was captured with
  for (int i = 3; i < 6; ++i) {
    *pinned_in = static_cast<float>(i);
    CHECK(cudaGraphLaunch(step, stream));
    synchronize();
    EXPECT(*pinned_out == static_cast<float>(2 * i + 100));
  }
  // It also has the pointers.
  float* const before = out;
  out = copy_in(std::vector<float>{-7});
  *pinned_in = 9;
  CHECK(cudaGraphLaunch(step, stream));
  CHECK(cudaGraphExecDestroy(step));
  EXPECT(first_of(before) == 118 && first_of(out) == -7);
}

void stale_pointer() {
  in = copy_in(std::vector<float>{0});
  out = copy_in(std::vector<float>{0});
  const cudaGraphExec_t step = capture([] { launch(scale, 1, 1, out, in, 1.0f); });
  CHECK(cudaFree(out));
  out = allocate<float>(1);
  CHECK(cudaGraphLaunch(step, stream));
  synchronize();
}

void stale_copy() {
  in = copy_in(std::vector<float>{0});
  out = copy_in(std::vector<float>{0});
  const cudaGraphExec_t step =
      capture([] { CHECK(cudaMemcpyAsync(out, in, 4, cudaMemcpyDeviceToDevice, stream)); });
  CHECK(cudaFree(in));
  CHECK(cudaGraphLaunch(step, stream));
  EXPECT(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
  CHECK(cudaGraphExecDestroy(step));
}

void refused_in_capture() {
  float* memory = allocate<float>(1);
  void* another = nullptr;
  cudaGraph_t graph;
  const auto expect_spoilt = [&](cudaError_t status) {
    EXPECT(status == cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated && graph == nullptr);
  };
  const auto begin = [] { CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal)); };
  begin();
  expect_spoilt(cudaStreamSynchronize(stream));
  begin();
  expect_spoilt(cudaMalloc(&another, 4));
  begin();
  expect_spoilt(cudaFree(memory));
  begin();
  EXPECT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaErrorIllegalState);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphDestroy(graph));
  EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorIllegalState);
}

void names_its_device() {
  int count = 0;
  CHECK(cudaGetDeviceCount(&count));
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  EXPECT(count == 1 && std::string(device.name) == "host emulation" && device.major == 9 && device.minor == 0);
  EXPECT(device.multiProcessorCount == 132 && device.sharedMemPerBlockOptin == 227 * 1024);
  CHECK(cudaSetDevice(0));
  EXPECT(cudaSetDevice(1) == cudaErrorInvalidDevice);
  EXPECT(std::string(cudaGetErrorString(cudaErrorMemoryAllocation)) == "out of memory");
}

template <int64_t index>
void write_outside() {
  launch(write_at, 1, 1, allocate<float>(65), index);
  synchronize();
}
void read_freed() {
  float* memory = allocate<float>(4);
  CHECK(cudaFree(memory));
  // The device has gone on to other memory.
  allocate<float>(4);
  launch(add, 1, 1, memory, 1.0f);
  synchronize();
}
void host_reads_device() {
  float* memory = copy_in(std::vector<float>{1});
  launch(add, 1, 1, memory, 1.0f);
  synchronize();
  std::printf("%g\n", static_cast<double>(*static_cast<volatile float*>(memory)));
}
void misaligned_vector() {
  launch(write_vector, 1, 1, allocate<float>(16) + 1);
  synchronize();
}
void misaligned_load() {
  launch(load_pair, 1, 1, allocate<float>(16));
  synchronize();
}
void full_stack() {
  launch(fill_stack, 1, 1, allocate<float>(4));
  synchronize();
}

const Case cases[] = {{"poisoned-allocations", poisoned_allocations},
                      {"checked-copies", checked_copies},
                      {"launch-limits", launch_limits},
                      {"late-work", late_work},
                      {"captured-work", captured_work},
                      {"stale-pointer", stale_pointer},
                      {"stale-copy", stale_copy},
                      {"refused-in-capture", refused_in_capture},
                      {"names-its-device", names_its_device},
                      {"write-behind", write_outside<65>},
                      {"write-far-behind", write_outside<128>},
                      {"write-before", write_outside<-1>},
                      {"read-freed", read_freed},
                      {"host-reads-device", host_reads_device},
                      {"misaligned-vector", misaligned_vector},
                      {"misaligned-load", misaligned_load},
                      {"full-stack", full_stack}};

}  // namespace

int main(int argc, char** argv) { return run_case(argc, argv, cases); }
