type RunLimited = <T>(signal: AbortSignal, task: () => Promise<T>) => Promise<T>;

/** All runs of this process share the places at an endpoint. */
const places = new Map<string, RunLimited>();

export function placesAt(endpoint: string, limit: number): RunLimited {
  const name = `${limit} ${endpoint}`;
  const shared = places.get(name) ?? limitConcurrency(limit);
  places.set(name, shared);
  return shared;
}

/** Runs at most `limit` tasks at once, the others in the order in which they came. */
function limitConcurrency(limit: number): RunLimited {
  let free = limit;
  const waiting: (() => void)[] = [];
  const release = (): void => {
    const next = waiting.shift();
    // The place goes to the next one without ever being free.
    if (next === undefined) free += 1;
    else next();
  };
  return async (signal, task) => {
    signal.throwIfAborted();
    if (free > 0) free -= 1;
    else await waitForPlace(waiting, signal);
    try {
      signal.throwIfAborted();
      return await task();
    } finally {
      release();
    }
  };
}

function waitForPlace(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const enter = (): void => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const leave = (): void => {
      waiting.splice(waiting.indexOf(enter), 1);
      reject(signal.reason);
    };
    waiting.push(enter);
    signal.addEventListener('abort', leave, { once: true });
  });
}
