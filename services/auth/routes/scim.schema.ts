import { z } from 'zod';
import { lenientInteger } from '../../common/platform/http/schema.ts';
import { MAX_RESULTS } from '../scim/schema.ts';

export const scimId = z.object({ id: z.string() });

const text = z.string().optional();

/** Names separated by commas. */
const names = z
  .string()
  .default('')
  .transform((list) => list.split(',').filter((name) => name.trim() !== ''));

export const scimSelection = z.object({ attributes: names, excludedAttributes: names });

export const scimListQuery = scimSelection.extend({
  filter: text.describe('For example `userName eq "ada@example.com"`'),
  startIndex: lenientInteger().default(1),
  count: lenientInteger().default(100),
  sortBy: text,
  sortOrder: z.enum(['ascending', 'descending']).default('ascending'),
});

/** Beyond it a client pages. */
export function boundedCount(count: number): number {
  return Math.min(Math.max(0, count), MAX_RESULTS);
}

/** Names of attributes are case-insensitive and their values lenient: they are read by the schemas of SCIM, not by this. */
export const scimBody = z
  .record(z.string(), z.unknown())
  .describe('A resource, or a PatchOp message (RFC 7644 §3.5.2)');

export const scimResource = z.record(z.string(), z.unknown());
export const scimListResponse = z.object({
  schemas: z.array(z.string()),
  totalResults: z.int(),
  startIndex: z.int(),
  itemsPerPage: z.int(),
  Resources: z.array(scimResource),
});
