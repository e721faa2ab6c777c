import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { answerCheckOf } from '../support/answer-check.ts';
import type { CaseFile, ContractCase, Expectation, Fixture, Posture, RequestSpec, Step } from './case.ts';
import { type Answer, exchange } from './exchange.ts';
import { differences } from './match.ts';
import { fill, lookUp } from './variables.ts';

interface Target {
  readonly baseUrl: string;
  /** Sent with every request whose `auth` is `user`. */
  readonly headers: Readonly<Record<string, string>>;
  /** cognee itself: its answers are not held against its OpenAPI document. */
  readonly isReference?: boolean;
}

/** Runs cases one after another or side by side; fixtures and the second account live as long as it does. */
export interface Runner {
  /** Problems of the case; none means it holds. */
  run(contractCase: ContractCase): Promise<readonly string[]>;
}

const MEGABYTE = 'lorem ipsum dolo'.repeat(65_536);

type Headers = Readonly<Record<string, string>>;

export function loadCases(posture: Posture = 'required'): readonly CaseFile[] {
  const folder = new URL('./cases/', import.meta.url);
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => read<CaseFile>(new URL(name, folder)))
    .filter((file) => (file.posture ?? 'required') === posture);
}

/** Bearer header of an account. */
export async function logIn(baseUrl: string, user: string, password: string): Promise<Headers> {
  const body = new URLSearchParams({ username: user, password });
  const response = await fetch(`${baseUrl}/api/v1/auth/login`, { method: 'POST', body });
  if (!response.ok) throw new Error(`login failed with ${response.status}: ${await response.text()}`);
  return { authorization: `Bearer ${((await response.json()) as { access_token: string }).access_token}` };
}

export function createRunner(target: Target): Runner {
  const fixtures = read<Record<string, Fixture>>(new URL('./fixtures.json', import.meta.url));
  const made = new Map<string, Promise<ReadonlyMap<string, unknown>>>();
  let other: Promise<Headers> | undefined;

  const openStage = () => {
    const word = uniqueWord();
    const email = `${word}@example.com`;
    const variables = new Map<string, unknown>([
      ['unique', word],
      ['freshEmail', email],
      ['megabyte', MEGABYTE],
    ]);
    let fresh: Promise<Headers> | undefined;
    const credential = async ({ auth = 'user' }: RequestSpec): Promise<Headers> => {
      if (auth === 'none') return {};
      if (auth === 'user') return target.headers;
      if (auth === 'fresh') {
        fresh ??= register(target.baseUrl, email);
        return fresh;
      }
      other ??= register(target.baseUrl, `${uniqueWord()}@example.com`);
      return other;
    };
    return { variables, step: (step: Step) => runStep(target, step, { variables, credential }) };
  };

  const make = async (name: string): Promise<ReadonlyMap<string, unknown>> => {
    const fixture = fixtures[name];
    if (fixture === undefined) throw new Error(`no fixture is named ${name}`);
    const { variables, step } = openStage();
    await take(fixture.uses, variables);
    const problems = await firstProblems(step, fixture.steps, `fixture ${name}:`);
    if (problems.length > 0) throw new Error(problems.join('\n'));
    for (const own of ['unique', 'freshEmail', 'megabyte']) variables.delete(own);
    return variables;
  };
  const take = async (names: readonly string[] = [], variables: Map<string, unknown>): Promise<void> => {
    for (const name of names) {
      const saved = made.get(name) ?? make(name);
      made.set(name, saved);
      for (const [key, value] of await saved) variables.set(key, value);
    }
  };

  return {
    async run(contractCase) {
      const { variables, step } = openStage();
      await take(contractCase.uses, variables);
      const early = await firstProblems(step, contractCase.given ?? [], 'given');
      if (early.length > 0) return early;
      const problems = await step(contractCase);
      return problems.length > 0 ? problems : firstProblems(step, contractCase.then ?? [], 'then');
    },
  };
}

async function firstProblems(
  run: (step: Step) => Promise<readonly string[]>,
  steps: readonly Step[],
  when: string,
): Promise<readonly string[]> {
  for (const step of steps) {
    const problems = await run(step);
    if (problems.length > 0)
      return problems.map((problem) => `${when} ${step.request.method} ${step.request.path}: ${problem}`);
  }
  return [];
}

interface Stage {
  readonly variables: Map<string, unknown>;
  credential(request: RequestSpec): Promise<Headers>;
}

async function runStep(
  { baseUrl, isReference }: Target,
  step: Step,
  { variables, credential }: Stage,
): Promise<readonly string[]> {
  const expectation = step.expect ?? { status: [200, 201, 202, 204] };
  const deadline = Date.now() + (step.untilSeconds ?? 0) * 1000;
  for (;;) {
    const request = fill(step.request, variables);
    const answer = await exchange(baseUrl, request, await credential(step.request));
    const problems = [...judge(answer, fill(expectation, variables))];
    if (!isReference) problems.push(...(await undescribed(baseUrl, request, answer)));
    if (problems.length === 0) {
      for (const [name, path] of Object.entries(fill(step.save ?? {}, variables)))
        variables.set(name, lookUp(answer.body, path));
      return [];
    }
    if (Date.now() >= deadline) return problems;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** How a successful answer differs from the server's OpenAPI document. */
async function undescribed(baseUrl: string, { method, path }: RequestSpec, answer: Answer): Promise<readonly string[]> {
  const contentType = answer.headers.get('content-type');
  const isJson = contentType?.includes('json') === true && typeof answer.body !== 'undefined';
  const checked = { status: answer.status, contentType, json: isJson ? answer.body : undefined };
  const problem = (await answerCheckOf(baseUrl, { method, path })).problem({ method, path }, checked);
  return problem === null ? [] : [problem];
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

async function register(baseUrl: string, email: string): Promise<Headers> {
  const password = randomBytes(12).toString('hex');
  const response = await fetch(`${baseUrl}/api/v1/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  if (response.status !== 201) throw new Error(`register failed with ${response.status}: ${await response.text()}`);
  return logIn(baseUrl, email, password);
}

function uniqueWord(): string {
  return `c${randomBytes(5).toString('hex')}`;
}

function read<T>(file: URL): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}
