import type { BegunCall, CompletionLedger } from '../../model/completion-ledger.ts';
import type { LlmSettings } from '../../model/llm-settings.ts';
import { type SpendingLimits, type TokenUsage, tokensOf } from '../../model/spending.ts';

export type Price = LlmSettings['prices'][string];

/** An answer shorter than this is not worth asking for. */
export const shortestAnswer = 1024;

export function costOf(usage: TokenUsage, price: Price | undefined): number | null {
  if (price === undefined) return null;
  const fresh = usage.promptTokens - usage.cachedTokens;
  const cached = usage.cachedTokens * (price.cached_input ?? price.input);
  return (fresh * price.input + cached + usage.completionTokens * price.output) / 1e6;
}

export interface Wish {
  readonly promptTokens: number;
  readonly longestAnswer: number;
  readonly price: Price | undefined;
}

export type Reservation =
  | { readonly isGranted: true; readonly longestAnswer: number }
  | { readonly isGranted: false; readonly message: string };

/** Keeps the hard limits: what a call may cost at most is in the record before the call is made. */
export interface SpendGuard {
  reserve(call: Omit<BegunCall, 'reservedTokens' | 'reservedUsd'>, wish: Wish): Promise<Reservation>;
}

export function createSpendGuard(ledger: CompletionLedger, limits: SpendingLimits): SpendGuard {
  // One at a time: between reading what is spent and reserving, no other call may do the same.
  let last: Promise<unknown> = Promise.resolve();
  return {
    reserve(call, wish) {
      const reservation = last.then(async () => {
        const room = await findRoom(ledger, limits, wish);
        if (!room.isGranted) return room;
        const reservedTokens = wish.promptTokens + room.longestAnswer;
        const usage = {
          promptTokens: wish.promptTokens,
          cachedTokens: 0,
          completionTokens: room.longestAnswer,
        };
        await ledger.begin({ ...call, reservedTokens, reservedUsd: costOf(usage, wish.price) });
        return room;
      });
      last = reservation.catch(() => undefined);
      return reservation;
    },
  };
}

async function findRoom(ledger: CompletionLedger, limits: SpendingLimits, wish: Wish): Promise<Reservation> {
  const least = Math.min(shortestAnswer, wish.longestAnswer);
  const spent = await ledger.spent();
  const today = await ledger.leftToday();
  const left = limits.hardTokens - tokensOf(spent);
  const byTokens = Math.min(left, today ?? left) - wish.promptTokens;
  const need = `The next call needs about ${wish.promptTokens + least} tokens`;
  if (byTokens < least) {
    return refuse(
      today !== null && today < left
        ? `${need}, and the repository may use ${today} more today (tokens_per_day). Continue tomorrow, or raise the limit.`
        : `${need}, and ${Math.max(0, left)} are left of the run's limit of ${limits.hardTokens}. Raise the limit to go on.`,
    );
  }
  const byMoney = answerForMoney(limits.hardUsd, spent.usd, wish);
  if (byMoney === undefined) {
    return refuse(
      `A limit of ${limits.hardUsd} USD is set, but the model has no price in the settings of the language model (prices), so it cannot be kept. Add the price, or limit tokens only.`,
    );
  }
  if (byMoney < least) {
    const rest = Math.max(0, (limits.hardUsd ?? 0) - (spent.usd ?? 0)).toFixed(4);
    return refuse(
      `${need}, which cost more than the ${rest} USD left of the run's limit of ${limits.hardUsd} USD. Raise the limit to go on.`,
    );
  }
  return { isGranted: true, longestAnswer: Math.floor(Math.min(wish.longestAnswer, byTokens, byMoney)) };
}

function refuse(message: string): Reservation {
  return { isGranted: false, message };
}

/** The longest answer that the money left pays for; undefined where that cannot be known. */
function answerForMoney(hardUsd: number | null, spent: number | null, wish: Wish): number | undefined {
  if (hardUsd === null) return Number.POSITIVE_INFINITY;
  if (spent === null || wish.price === undefined) return undefined;
  const left = (hardUsd - spent) * 1e6 - wish.promptTokens * wish.price.input;
  if (left < 0) return -1;
  return wish.price.output === 0 ? Number.POSITIVE_INFINITY : Math.floor(left / wish.price.output);
}
