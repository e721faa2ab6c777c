import type { RunOrigin } from '../../domain/run.ts';

const BY_USER_AGENT: readonly (readonly [RegExp, RunOrigin])[] = [
  [/\bmcp\b|fastmcp/iu, 'mcp'],
  [/\b(?:engram|cognee)-cli\b/iu, 'cli'],
  [/\b(?:cognee|engram)\b|\bsdk\b/iu, 'sdk'],
];

/** Which kind of client sent a request, by what it calls itself; one that says nothing known uses the API. */
export function requestOrigin(userAgent: string | undefined): RunOrigin {
  return BY_USER_AGENT.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1] ?? 'api';
}
