/** The services of the cluster, in the order in which they start; they stop in reverse. */
export const SERVICE_NAMES = ['auth', 'cognify', 'ingest', 'improve', 'search', 'integrations'] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

/**
 * Path prefixes by the service that answers them: what an ingress routes by. A prefix covers itself and everything below
 * it, the longest wins; whatever no other service has is `auth`'s, which also answers for the whole (`/`, `/docs`, `/health`).
 */
export const SERVICE_PATHS: Readonly<Record<ServiceName, readonly string[]>> = {
  auth: ['/', '/api/v1/activity/usage', '/api/v1/integrations/plugins'],
  ingest: [
    '/api/v1/add',
    '/api/v1/remember',
    '/api/v1/update',
    '/api/v1/datasets',
    '/api/v1/delete',
    '/api/v1/forget',
    '/api/v1/ontologies',
    '/api/v1/skills',
    '/api/v1/proposals',
    '/api/v1/sessions',
    '/api/v1/activity',
  ],
  cognify: [
    '/api/v1/cognify',
    '/api/cognify',
    '/api/v1/llm',
    '/api/v1/validate',
    '/api/v1/datasets/status',
    '/api/v1/datasets/graph-summary',
    '/api/v1/datasets/embedding',
    '/api/v1/activity/pipeline-runs',
    '/api/v1/activity/jobs',
  ],
  improve: ['/api/v1/improve', '/api/v1/memify'],
  search: ['/api/v1/search', '/api/v1/recall', '/api/v1/responses', '/api/v1/visualize', '/api/v1/schema'],
  integrations: [
    '/api/v1/integrations',
    '/api/v1/slack',
    '/api/v1/sync',
    '/api/sync',
    '/mcp',
    '/.well-known/oauth-protected-resource',
  ],
};

/** Longest first, as every ingress reads them. */
const PREFIXES = Object.entries(SERVICE_PATHS)
  .flatMap(([service, prefixes]) => prefixes.map((prefix) => ({ service: service as ServiceName, prefix })))
  .toSorted((one, other) => other.prefix.length - one.prefix.length);

/** The service of a request's path, without its query. */
export function serviceOfPath(path: string): ServiceName {
  const owner = PREFIXES.find(({ prefix }) => prefix !== '/' && (path === prefix || path.startsWith(`${prefix}/`)));
  return owner?.service ?? 'auth';
}
