import type { Caller } from './http.ts';

/** `METHOD /path` of every route in the OpenAPI document. */
export async function documentedOperations(caller: Caller): Promise<readonly string[]> {
  const { paths } = await caller.need<{ paths: Record<string, Record<string, unknown>> }>({
    method: 'GET',
    path: '/openapi.json',
  });
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
}
