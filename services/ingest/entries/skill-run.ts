import { z } from 'zod';
import { HttpError } from '../../common/http/http-error.ts';
import type { EntryKind } from './entry-kind.ts';

export const skillRunSchema = z.looseObject({ type: z.literal('skill_run') });

/** How a skill did. */
export const skillRunKind: EntryKind<z.output<typeof skillRunSchema>> = {
  needsSession: false,
  check() {
    throw new HttpError(400, {
      error: 'Invalid remember request.',
      detail: 'Entries of skill runs are not available.',
    });
  },
  async store() {
    throw new Error('an entry of a skill run passed its check');
  },
};
