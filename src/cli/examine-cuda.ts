import { type CudaDevice, listDeviceFiles, queryDevices } from '../verification/cuda-devices.ts';
import { type FoundToolkit, findCudaToolkit, usualCompilers } from '../verification/cuda-toolkit.ts';
import type { Finding } from './doctor-command.ts';

// As knowledge/platforms/cuda.yaml asks.
const leastMajor = 12;

/** What of a machine matters to engines for CUDA alone: compiler, driver, devices. None of it is needed for others. */
export async function examineCuda(
  compilers: readonly string[] = usualCompilers,
  query: () => Promise<readonly CudaDevice[] | undefined> = queryDevices,
): Promise<readonly Finding[]> {
  return [describeCompiler(await findCudaToolkit(compilers)), ...describeDevices(await query())];
}

function describeCompiler(toolkit: FoundToolkit | undefined): Finding {
  const needed = `only to build engines for cuda: the CUDA toolkit, ${leastMajor} or newer (https://developer.nvidia.com/cuda-downloads)`;
  if (toolkit === undefined) return { name: 'nvcc', status: 'optional-missing', found: 'not found', needed };
  const isWhole = toolkit.runtimeLibrary !== undefined;
  const isEnough = isWhole && toolkit.major >= leastMajor;
  const found = `${toolkit.version.replace(/^nvcc /, '')} in ${toolkit.folder}${isWhole ? '' : ', without libcudart_static.a'}`;
  return { name: 'nvcc', status: isEnough ? 'ok' : 'optional-missing', found, needed };
}

function describeDevices(devices: readonly CudaDevice[] | undefined): Finding[] {
  const needed =
    'only to run engines for cuda: without a GPU they are compiled, checked in host emulation, and called "not run on a device"';
  const first = devices?.[0];
  if (devices === undefined || first === undefined) {
    const found =
      devices !== undefined
        ? 'the driver names no device'
        : listDeviceFiles().length > 0
          ? 'there are device files, but nvidia-smi does not answer'
          : 'no GPU, or no driver (nvidia-smi does not answer)';
    return [{ name: 'gpu', status: 'optional-missing', found, needed }];
  }
  return [
    { name: 'driver', status: 'ok', found: `NVIDIA ${first.driver}`, needed },
    ...devices.map(
      ({ name, computeCapability, memory }): Finding => ({
        ...{ name: 'gpu', status: 'ok', needed },
        found: `${name}, sm_${computeCapability.replace('.', '')}, ${memory}`,
      }),
    ),
  ];
}
