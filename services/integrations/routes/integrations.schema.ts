import { z } from 'zod';
import { stringList } from '../../common/platform/http/schema.ts';
import { IMPORT_FAILURES, type ImportFailure } from '../../common/records/integrations/connections.ts';

const failureCounts = Object.fromEntries(IMPORT_FAILURES.map((name) => [name, z.int().optional()])) as Record<
  ImportFailure,
  z.ZodOptional<z.ZodInt>
>;
const counts = z.object({ scanned: z.int(), skipped: z.int(), failed: z.int(), ...failureCounts });
const syncStatus = z.enum(['ok', 'degraded', 'syncing']).nullable();

/** Answer about a connection; without one, only `connected` and, when the provider ended it, `error`. */
export const connectionAnswer = z
  .object({
    connected: z.boolean(),
    connectionId: z.string().optional(),
    provider: z.string().optional(),
    accountLabel: z.string().optional(),
    providerAccountId: z.string().optional(),
    connectedAt: z.string().optional(),
    datasetId: z.string().optional(),
    datasetName: z.string().optional(),
    storedItems: z.int().optional().describe('Documents of the source that there are items of'),
    selected: z.array(z.string()).nullable().optional().describe('What was chosen; null: everything'),
    leftOut: z.array(z.string()).optional().describe('Kinds of documents that are not brought in'),
    selectable: z.boolean().optional().describe('Whether there is anything to choose'),
    allowsAll: z.boolean().optional().describe('Whether everything can be brought in, without a choice'),
    partOf: z.string().optional().describe('Id of the connection whose account an import into another dataset uses'),
    syncStatus: syncStatus.optional().describe('Null before the first import'),
    lastSyncedAt: z.string().nullable().optional(),
    nextSyncAt: z.string().optional(),
    syncCounts: counts.optional(),
    progress: z
      .object({ done: z.int(), total: z.int().nullable() })
      .optional()
      .describe('Of the import under way, in documents'),
    waitingUntil: z.string().optional().describe('The source asked to wait until then'),
    error: z.string().optional().describe('Why the last import is degraded, or the provider ended the connection'),
    accessNote: z.string().optional().describe('Why somebody may see less of it here than at the source'),
    declaredAs: z
      .string()
      .optional()
      .describe('Its name in `spec.sources` of the Dataset resource that declares it; only there it is changed'),
  })
  .meta({ id: 'IntegrationConnection' });

export const connectionsAnswer = z.object({ connections: z.array(connectionAnswer) });

export const statusAnswer = z
  .object({
    integrations: z.array(
      z.object({
        provider: z.string(),
        configured: z.boolean().describe('Whether this server can connect it'),
        oauth: z.boolean().describe('Whether people connect it by signing in there'),
        connected: z.boolean(),
        accountLabel: z.string().nullable(),
        providerAccountId: z.string().nullable(),
        connectedAt: z.string().nullable(),
        syncStatus,
        lastSyncedAt: z.string().nullable(),
        syncCounts: counts.nullable(),
      }),
    ),
    plugins: z.array(
      z.object({
        key: z.string(),
        connected: z.boolean(),
        agentId: z.string().nullable(),
        provisionedAt: z.string().nullable(),
        lastActiveAt: z.string().nullable(),
        sessionCount: z.int(),
        source: z.enum(['identity', 'sessions-legacy', 'registry']).nullable(),
      }),
    ),
  })
  .meta({ id: 'IntegrationStatus' });

/** Absent and null: everything. */
export const selectionBody = z
  .object({
    resourceIds: stringList().nullish(),
    kinds: stringList().nullish().describe('Kinds of documents to bring in; null: all, absent: those of before'),
  })
  .meta({ id: 'IntegrationSelection' });

export const selectionAnswer = z
  .object({
    resources: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        description: z.string().nullable(),
        attributes: z.record(z.string(), z.unknown()),
        selected: z.boolean(),
      }),
    ),
    selected: z.array(z.string()).nullable(),
    kinds: z
      .array(z.object({ id: z.string(), name: z.string(), selected: z.boolean() }))
      .optional()
      .describe('Kinds of documents that can be left out, where the provider has several'),
  })
  .meta({ id: 'IntegrationResources' });
