import type { ReferenceOps, Tensor } from '../../../src/model/reference.ts';

/** The part that is copied in lies between zeros: that is what fresh memory holds. */
function roundTrip(x: Tensor, offset: number, length: number): Tensor {
  const data = new Float64Array(x.data.length);
  for (let index = offset; index < offset + length; index++) data[index] = x.data[index]!;
  return { shape: x.shape, data };
}

function filled(x: Tensor, value: number): Tensor {
  return { shape: x.shape, data: new Float64Array(x.data.length).fill(value) };
}

export const ops: ReferenceOps = {
  round_trip: ({ inputs, params }) => ({
    out: roundTrip(inputs.x!, Number(params.offset), Number(params.length)),
  }),
  fresh: ({ inputs }) => ({ out: filled(inputs.x!, 0) }),
  poison: ({ inputs }) => ({ out: filled(inputs.x!, Number.NaN) }),
  scratch: ({ inputs }) => ({ x: inputs.x!, y: inputs.y!, again: inputs.y! }),
};
