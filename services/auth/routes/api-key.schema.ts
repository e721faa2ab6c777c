import { z } from 'zod';
import { PERMISSIONS } from '../../common/kernel/principal.ts';
import { lenientInteger, optional, uuid, uuidList } from '../../common/platform/http/schema.ts';
import { MAX_KEY_LIFE_SECONDS } from '../keys/api-keys.ts';

/** Both are kept with the key and in the audit log. */
const MAX_TEXT_LENGTH = 200;
/** More than all datasets of most accounts; each is looked up. */
const MAX_KEY_DATASETS = 1000;

/** ISO-8601; without an offset it means UTC, as all naive times of the wire do. */
const instant = z.iso
  .datetime({ offset: true, local: true })
  .transform((text) => new Date(/(Z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`));

export const createApiKeyBody = z
  .object({
    name: z.string().max(MAX_TEXT_LENGTH).nullish(),
    /** Free text of the owner; shown as `user_label`, because `label` of the wire is the masked key. */
    label: z.string().max(MAX_TEXT_LENGTH).nullish(),
    expires_at: optional(z.union([lenientInteger({ min: 1, max: MAX_KEY_LIFE_SECONDS }), instant])),
    /** Null or absent: no limit. An empty list could mean all or nothing, so it is refused. */
    permissions: optional(z.array(z.enum(PERMISSIONS)).min(1)),
    datasets: optional(uuidList({ min: 1, max: MAX_KEY_DATASETS })),
  })
  .meta({ id: 'ApiKeyCreationPayload' });

export const apiKeyParams = z.object({ apiKeyId: uuid() });

export const apiKeyRecord = z
  .object({
    key: z.string(),
    label: z.string(),
    name: z.string().nullable(),
    id: z.string(),
    user_label: z.string().nullable(),
    created_at: z.string(),
    last_used_at: z.string().nullable(),
    expires_at: z.string().nullable(),
    permissions: z.array(z.enum(PERMISSIONS)).nullable(),
    datasets: z.array(z.string()).nullable(),
  })
  .meta({ id: 'ApiKey' });
