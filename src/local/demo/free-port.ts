import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below what Linux gives to connections and to servers that name no port: those come and go at any time. */
const [lowest, highest] = [20_000, 32_000] as const;
const mostTries = 50;

/** A port of 127.0.0.1 that is free now: for a server whose address must be told before it listens. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = randomInt(lowest, highest);
    try {
      await tryPort(port);
      return port;
    } catch (error) {
      if (attempt === mostTries) throw error;
    }
  }
}

function tryPort(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve()));
  });
}
