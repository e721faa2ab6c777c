import { z } from 'zod';
import { optional, uuid } from '../../common/platform/http/schema.ts';

/** Repeatable; any text: unknown ones have their own error. */
export const capabilityQuery = z.object({ capability: z.array(z.string()), tenant_id: optional(uuid()) });

export const ownCapabilitiesRecord = z.object({ capabilities: z.array(z.string()) });
