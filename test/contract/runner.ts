import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { CaseFile, ContractCase, Expectation, RequestSpec, Step } from './case.ts';
import { differences } from './match.ts';

export interface Target {
  readonly baseUrl: string;
  /** Sent with every request whose `auth` is `user`. */
  readonly headers: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export function loadCases(): readonly CaseFile[] {
  const folder = new URL('./cases/', import.meta.url);
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as CaseFile);
}

/** Problems of a case against a server; none means it holds. */
export async function runCase(target: Target, contractCase: ContractCase): Promise<readonly string[]> {
  const variables = new Map([['unique', `c${randomBytes(5).toString('hex')}`]]);
  for (const step of contractCase.given ?? []) {
    const problems = await runStep(target, step, variables);
    if (problems.length > 0)
      return problems.map((problem) => `given ${step.request.method} ${step.request.path}: ${problem}`);
  }
  const problems = await runStep(target, contractCase, variables);
  if (problems.length > 0) return problems;
  for (const step of contractCase.then ?? []) {
    const later = await runStep(target, step, variables);
    if (later.length > 0) return later.map((problem) => `then ${step.request.method} ${step.request.path}: ${problem}`);
  }
  return [];
}

async function runStep(target: Target, step: Step, variables: Map<string, string>): Promise<readonly string[]> {
  const expectation = step.expect ?? { status: [200, 201, 202, 204] };
  const deadline = Date.now() + (step.untilSeconds ?? 0) * 1000;
  for (;;) {
    const answer = await send(target, fill(step.request, variables) as RequestSpec);
    const problems = judge(answer, fill(expectation, variables) as Expectation);
    if (problems.length === 0) {
      for (const [name, path] of Object.entries(step.save ?? {}))
        variables.set(name, String(lookUp(answer.body, path)));
      return [];
    }
    if (Date.now() >= deadline) return problems;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function judge(answer: Answer, expectation: Expectation): readonly string[] {
  const statuses = [expectation.status].flat();
  if (!statuses.includes(answer.status)) {
    return [
      `status: expected ${statuses.join(' or ')}, got ${answer.status}: ${JSON.stringify(answer.body)?.slice(0, 400)}`,
    ];
  }
  const headers = Object.entries(expectation.headers ?? {}).flatMap(([name, matcher]) =>
    differences(answer.headers.get(name) ?? undefined, matcher, `header ${name}`),
  );
  return 'body' in expectation ? [...headers, ...differences(answer.body, expectation.body)] : headers;
}

async function send(target: Target, request: RequestSpec): Promise<Answer> {
  const url = new URL(target.baseUrl + request.path);
  for (const [name, value] of Object.entries(request.query ?? {})) {
    for (const entry of [value].flat()) url.searchParams.append(name, entry);
  }
  const headers = new Headers(request.auth === 'none' ? {} : target.headers);
  const body = bodyOf(request, headers);
  for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name, value);
  const response = await fetch(url, {
    method: request.method,
    headers,
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: parse(text) };
}

function bodyOf(request: RequestSpec, headers: Headers): string | FormData | URLSearchParams | undefined {
  if (request.json !== undefined) {
    headers.set('content-type', 'application/json');
    return JSON.stringify(request.json);
  }
  if (request.raw !== undefined) return request.raw;
  if (request.urlencoded !== undefined) return new URLSearchParams(request.urlencoded);
  if (request.multipart === undefined) return undefined;
  const form = new FormData();
  for (const part of request.multipart) {
    if (part.file === undefined) form.append(part.name, part.value ?? '');
    else {
      const content = part.file.base64 === undefined ? (part.file.text ?? '') : Buffer.from(part.file.base64, 'base64');
      form.append(
        part.name,
        new Blob([content], { type: part.file.type ?? 'application/octet-stream' }),
        part.file.name,
      );
    }
  }
  return form;
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Replaces `{{name}}` in every string of the value. */
function fill(value: unknown, variables: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string')
    return value.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => variables.get(name) ?? whole);
  if (Array.isArray(value)) return value.map((entry) => fill(entry, variables));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [fill(key, variables) as string, fill(entry, variables)]),
  );
}

function lookUp(body: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], body);
}
