import SmeeClient from 'smee-client';

/**
 * Hands every delivery that reaches a smee.io channel on to a local app; gives what ends it. For development only: the
 * channel is public, keeps nothing while nobody listens, and writes the JSON anew, so that a signature may not fit.
 * @throws Error where the channel does not answer
 */
export async function forwardDeliveries(
  channel: string,
  target: string,
  log: (line: string) => void,
): Promise<() => Promise<void>> {
  const logger = { info: (text: string) => log(String(text)), error: (text: string) => log(String(text)) };
  const client = new SmeeClient({ source: channel, target, logger, maxConnectionTimeout: 10_000 });
  try {
    await client.start();
  } catch (error) {
    await client.stop();
    // What comes is an event of the stream, not an Error.
    throw new Error(
      `The channel ${channel} does not answer: ${(error as { message?: string }).message ?? 'no reason given'}`,
    );
  }
  return () => client.stop();
}
