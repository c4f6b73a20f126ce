import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeDelivery } from '../../src/webhooks/describe-delivery.ts';
import { githubPayload, githubUser, person, place } from './github-payload.ts';

const comment = (body: string, action = 'created') =>
  githubPayload('issue_comment', action, {
    ...place,
    sender: person,
    issue: { number: 12, user: person },
    comment: { id: 900, body, user: person },
  });

const button = (identifier: string) =>
  githubPayload('check_run', 'requested_action', {
    ...place,
    sender: person,
    check_run: { id: 500, name: 'metainfer' },
    requested_action: { identifier },
  });

const keyOf = (event: string, payload: unknown) => describeDelivery(event, payload).semanticKey;

it('tells what the store keeps of a delivery', () => {
  expect(describeDelivery('issue_comment', comment('hello'))).toEqual({
    action: 'created',
    repositoryId: 77,
    installationId: 5,
    semanticKey: expect.stringMatching(/^[0-9a-f]{64}$/),
    copyWindowSeconds: 600,
    queue: 'deliveries',
  });
});

it('knows no action and no ids where the payload has none', () => {
  expect(describeDelivery('ping', { zen: 'Keep it logically awesome.' })).toMatchObject({
    action: null,
    repositoryId: null,
    installationId: null,
  });
});

describe('the queue', () => {
  it.each(['/metainfer cancel', '/metainfer status', 'so:\r\n/metainfer status\r\n/metainfer plan'])(
    'of %j is control: it must not wait behind other work',
    (body) => {
      expect(describeDelivery('issue_comment', comment(body)).queue).toBe('control');
    },
  );

  it.each(['/metainfer plan\n/metainfer cancel', '> /metainfer cancel', '/metainfer cancell', 'cancel'])(
    'of %j is the ordinary one',
    (body) => {
      expect(describeDelivery('issue_comment', comment(body)).queue).toBe('deliveries');
    },
  );

  it('of an edited comment is the ordinary one', () => {
    expect(describeDelivery('issue_comment', comment('/metainfer cancel', 'edited')).queue).toBe(
      'deliveries',
    );
  });

  it('of the Cancel button is control, of Retry the ordinary one', () => {
    expect(describeDelivery('check_run', button('cancel')).queue).toBe('control');
    expect(describeDelivery('check_run', button('retry')).queue).toBe('deliveries');
  });
});

describe('the semantic key', () => {
  it('is the same for the copy that a webhook of the repository sends', () => {
    const { installation: _, ...copy } = comment('/metainfer plan');
    const moved = { ...copy, repository: { ...(copy.repository as object), open_issues_count: 9 } };
    expect(keyOf('issue_comment', moved)).toBe(keyOf('issue_comment', comment('/metainfer plan')));
  });

  it('does not depend on the order of fields', () => {
    const payload = comment('/metainfer plan');
    const reversed = Object.fromEntries(Object.entries(payload).reverse());
    expect(keyOf('issue_comment', reversed)).toBe(keyOf('issue_comment', payload));
  });

  it('differs with event, action, text, person and repository', () => {
    const payload = comment('a');
    const keys = [
      keyOf('issue_comment', payload),
      keyOf('pull_request_review_comment', payload),
      keyOf('issue_comment', { ...payload, action: 'edited' }),
      keyOf('issue_comment', comment('b')),
      keyOf('issue_comment', { ...payload, sender: githubUser(2, 'eve', 'User') }),
      keyOf('issue_comment', { ...payload, repository: { ...place.repository, id: 78 } }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('differs between installations, and between two changes of one repository', () => {
    const suspended = (id: number) =>
      keyOf(
        'installation',
        githubPayload('installation', 'suspend', { sender: person, installation: { id } }),
      );
    expect(suspended(5)).not.toBe(suspended(6));
    const privatized = (updated: string) =>
      keyOf('repository', {
        ...githubPayload('repository', 'privatized', { ...place, sender: person }),
        repository: { ...place.repository, updated_at: updated },
      });
    expect(privatized('2026-01-01T00:00:00Z')).not.toBe(privatized('2026-01-01T00:05:00Z'));
  });

  it('of a button counts for seconds only: somebody who presses again means it', () => {
    expect(describeDelivery('check_run', button('retry')).copyWindowSeconds).toBe(5);
  });
});

it('never throws, whatever the event and the payload', () => {
  fc.assert(
    fc.property(fc.string(), fc.anything(), (event, payload) => {
      expect(describeDelivery(event, payload).semanticKey).toHaveLength(64);
    }),
    { numRuns: 500 },
  );
});

it('reads a payload that is nested past any depth', () => {
  let nested: unknown = 1;
  for (let depth = 0; depth < 100_000; depth++) nested = { nested };
  expect(keyOf('issues', { action: 'opened', nested })).toHaveLength(64);
});
