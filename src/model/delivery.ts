/** One inline comment of a review. The line is in the new file (side RIGHT). */
export interface ReviewComment {
  readonly path: string;
  readonly line: number;
  readonly startLine?: number;
  readonly body: string;
}

/** A review before it is sent: what could not be placed inline is at file level or in the body already. */
export interface ReviewDraft {
  readonly body: string;
  readonly comments: readonly ReviewComment[];
  readonly fileComments: readonly { readonly path: string; readonly body: string }[];
}

/** A file of a pull request, as `GET …/pulls/{n}/files` gives it; `patch` is absent for big and binary files. */
export interface ChangedFile {
  readonly path: string;
  readonly status: string;
  readonly patch?: string;
}

export interface CheckAnnotation {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly level: 'notice' | 'warning' | 'failure';
  readonly title?: string;
  readonly message: string;
}

export const checkConclusions = [
  'success',
  'failure',
  'neutral',
  'cancelled',
  'timed_out',
  'action_required',
] as const;
export type CheckConclusion = (typeof checkConclusions)[number];

/** A check run before it is sent; the adapter sends at most 50 annotations a request. */
export interface CheckDraft {
  readonly status: 'queued' | 'in_progress' | 'completed';
  readonly conclusion?: CheckConclusion;
  readonly title: string;
  readonly summary: string;
  readonly text?: string;
  readonly annotations: readonly CheckAnnotation[];
  /** Label ≤ 20, description ≤ 40, identifier ≤ 20 characters; at most three. */
  readonly actions: readonly {
    readonly label: string;
    readonly description: string;
    readonly identifier: 'retry' | 'cancel';
  }[];
}

export type Reaction = 'eyes' | 'rocket' | '+1' | 'confused' | '-1';
