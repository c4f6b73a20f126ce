import type { AgentRole } from '../../../src/model/language-model.ts';
import type { CompletionBody } from './completion-body.ts';
import type { FaultName } from './faults.ts';

/** One request for a completion and what became of it; grows while it is answered. */
export interface LoggedRequest {
  readonly number: number;
  readonly role: AgentRole | null;
  readonly contract: string | null;
  readonly attempt: number;
  readonly isContinuation: boolean;
  readonly messages: CompletionBody['messages'];
  readonly prompt: string;
  /** The body without its messages. */
  readonly parameters: Readonly<Omit<CompletionBody, 'messages'>>;
  fault: FaultName | null;
  status: number | null;
  /** What went out of the answer so far. */
  sent: string;
  finishReason: string | null;
  /** Whether the client got it in full. */
  isDelivered: boolean;
  /** As the server counts, reported or not; 0 where it refused the request. */
  promptTokens: number;
  completionTokens: number;
}

export interface Counts {
  readonly requests: number;
  readonly delivered: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly tokens: number;
}

/** All requests of one server, in the order in which they arrived. */
export class RequestLog {
  readonly entries: LoggedRequest[] = [];
  private waiting: { isReady: () => boolean; resolve: () => void }[] = [];

  add(entry: LoggedRequest): void {
    this.entries.push(entry);
    this.changed();
  }

  /** To be called after every change of an entry. */
  changed(): void {
    for (const one of this.waiting.filter(({ isReady }) => isReady())) one.resolve();
    this.waiting = this.waiting.filter(({ isReady }) => !isReady());
  }

  /** Answers got in full by a role for a contract; a continuation belongs to the answer that it continues. */
  countDelivered(role: string | null, contract: string | null): number {
    return this.entries.filter(
      (entry) =>
        entry.isDelivered && !entry.isContinuation && entry.role === role && entry.contract === contract,
    ).length;
  }

  /** Resolves as soon as a request is, or becomes, what the test waits for. */
  async until(isWanted: (entry: LoggedRequest) => boolean): Promise<LoggedRequest> {
    const find = (): LoggedRequest | undefined => this.entries.find(isWanted);
    await new Promise<void>((resolve) => {
      this.waiting.push({ isReady: () => find() !== undefined, resolve });
      this.changed();
    });
    return find()!;
  }

  count(isCounted: (entry: LoggedRequest) => boolean = () => true): Counts {
    const counted = this.entries.filter(isCounted);
    const sum = (of: (entry: LoggedRequest) => number): number =>
      counted.reduce((total, entry) => total + of(entry), 0);
    const promptTokens = sum((entry) => entry.promptTokens);
    const completionTokens = sum((entry) => entry.completionTokens);
    return {
      requests: counted.length,
      delivered: counted.filter((entry) => entry.isDelivered).length,
      ...{ promptTokens, completionTokens, tokens: promptTokens + completionTokens },
    };
  }
}
