import type { RunOrigin } from '../../domain/run.ts';

const BY_USER_AGENT: readonly (readonly [RegExp, RunOrigin])[] = [
  [/\bmcp\b|fastmcp/iu, 'mcp'],
  [/\b(?:engram|cognee)-cli\b/iu, 'cli'],
  [/\b(?:cognee|engram)\b|\bsdk\b/iu, 'sdk'],
];

/** Returns the kind of client that sent a request, by its user agent; unknown ones count as the API. */
export function requestOrigin(userAgent: string | undefined): RunOrigin {
  return BY_USER_AGENT.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1] ?? 'api';
}
