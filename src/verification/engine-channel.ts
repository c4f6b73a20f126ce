import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '../model/errors.ts';
import { withoutHostPaths } from './host-paths.ts';
import { encodeFrame, type Frame, FrameReader, failureOpcode } from './protocol-frames.ts';
import { type SandboxedCommand, type SandboxedProcess, startSandboxed } from './sandboxed-process.ts';

/**
 * refused: the engine answered with an error frame and lives · crashed: it ended · timeout: it fell silent and was
 * ended · malformed: its bytes break the protocol and it was ended.
 */
export type EngineFailureKind = 'refused' | 'crashed' | 'timeout' | 'malformed';

/** A request that an engine did not answer as the protocol says. Gates turn it into a finding. */
export class EngineFailure extends Error {
  readonly kind: EngineFailureKind;
  readonly operation: string;

  constructor(kind: EngineFailureKind, operation: string, message: string) {
    super(message);
    this.name = 'EngineFailure';
    this.kind = kind;
    this.operation = operation;
  }
}

/** Printable, on one line, cut at its beginning: what an engine wrote is not trusted. */
export function escapeOutput(text: string, maxLength = 2000): string {
  const escaped = text
    .replace(/\r?\n/g, '\\n')
    .replace(
      /[^\x20-\x7e -퟿]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  return escaped.length <= maxLength ? escaped : `…${escaped.slice(-maxLength)}`;
}

interface Waiter {
  readonly operation: string;
  onFrame(frame: Frame): void;
  onFailure(failure: EngineFailure): void;
}

function placesOf({ readOnlyPaths, scratch }: SandboxedCommand): string[] {
  const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  const folders = readOnlyPaths.map((path) => (isFile(path) ? dirname(path) : path));
  return scratch === undefined ? folders : [...folders, scratch];
}

/** One engine process and its frames: requests are answered in order, one at a time. */
export class EngineChannel {
  private readonly reader = new FrameReader();
  private readonly process: SandboxedProcess;
  /** Places of this machine that the process may know. */
  private readonly places: readonly string[];
  private sequence = 0;
  private waiter: Waiter | undefined;
  private failure: EngineFailure | undefined;

  constructor(options: SandboxedCommand) {
    this.places = placesOf(options);
    this.process = startSandboxed({ ...options, protocol: true });
    this.process.fromProcess?.on('data', (chunk: Buffer) => this.receive(chunk));
    // Writing to a process that ended; the end itself is reported below.
    this.process.toProcess?.on('error', () => {});
    this.process.fromProcess?.on('error', () => {});
    void this.process.ended.then((end) => {
      const how =
        end.reason === 'exit'
          ? `exit code ${end.exitCode ?? end.signal}`
          : `ended by the limit: ${end.reason}`;
      const tail = this.show(end.stderr.toString('utf8'));
      this.fail('crashed', `the engine process is gone (${how})${tail === '' ? '' : `; stderr: ${tail}`}`);
    });
  }

  get ended() {
    return this.process.ended;
  }

  get pid(): number {
    return this.process.pid;
  }

  peakRssBytes(): number {
    return this.process.peakRssBytes();
  }

  stderrTail(): string {
    return this.show(this.process.stderrSoFar());
  }

  private show(text: string): string {
    return escapeOutput(withoutHostPaths(text, this.places));
  }

  kill(): void {
    this.process.kill();
  }

  /** Raw bytes to the engine, for the malformed-frame checks. */
  writeRaw(bytes: Uint8Array): void {
    this.process.toProcess?.write(bytes);
  }

  /** Closes fd 3: a well-behaved engine exits. */
  closeInput(): void {
    this.process.toProcess?.end();
  }

  private receive(chunk: Buffer): void {
    const { frames, fault } = this.reader.push(chunk, performance.now());
    for (const frame of frames) {
      if (this.waiter === undefined) {
        this.breakProtocol('a frame arrived that nobody asked for');
        return;
      }
      if (frame.sequence !== this.sequence) {
        this.breakProtocol(`a reply has sequence ${frame.sequence} instead of ${this.sequence}`);
        return;
      }
      this.waiter.onFrame(frame);
    }
    if (fault !== undefined) this.breakProtocol(fault);
  }

  private breakProtocol(message: string): void {
    this.fail('malformed', message);
    this.process.kill();
  }

  private fail(kind: EngineFailureKind, message: string): void {
    const operation = this.waiter?.operation ?? 'idle';
    this.failure ??= new EngineFailure(kind, operation, message);
    this.waiter?.onFailure(this.failure);
  }

  /**
   * Sends one request and collects its frames up to the one whose opcode is `lastOpcode`; the others must be
   * `stepOpcode`. `sentAt` is performance.now() just before the request was written.
   */
  request(options: {
    readonly operation: string;
    readonly opcode: number;
    readonly payload: Uint8Array;
    readonly lastOpcode?: number;
    readonly stepOpcode?: number;
    readonly timeoutMs: number;
  }): Promise<{ readonly sentAt: number; readonly frames: readonly Frame[] }> {
    if (this.waiter !== undefined)
      throw new AppError('INTERNAL', 'Two requests to one engine at the same time.');
    if (this.failure !== undefined) {
      return Promise.reject(new EngineFailure(this.failure.kind, options.operation, this.failure.message));
    }
    this.sequence += 1;
    const lastOpcode = options.lastOpcode ?? options.opcode | 0x8000;
    return new Promise((resolve, reject) => {
      const frames: Frame[] = [];
      let sentAt = 0;
      const settle = (action: () => void) => {
        clearTimeout(timer);
        this.waiter = undefined;
        action();
      };
      const timer = setTimeout(() => {
        this.fail('timeout', `no answer to ${options.operation} within ${options.timeoutMs / 1000} s`);
        this.process.kill();
      }, options.timeoutMs);
      this.waiter = {
        operation: options.operation,
        onFrame: (frame) => {
          if (frame.opcode === lastOpcode) settle(() => resolve({ sentAt, frames: [...frames, frame] }));
          else if (frame.opcode === failureOpcode) {
            const message = this.show(frame.payload.toString('utf8'));
            settle(() => reject(new EngineFailure('refused', options.operation, message)));
          } else if (frame.opcode === options.stepOpcode) frames.push(frame);
          else
            this.breakProtocol(
              `unexpected opcode 0x${frame.opcode.toString(16)} in reply to ${options.operation}`,
            );
        },
        onFailure: (failure) => settle(() => reject(failure)),
      };
      const bytes = encodeFrame(options.opcode, this.sequence, options.payload);
      sentAt = performance.now();
      this.process.toProcess?.write(bytes);
    });
  }
}
