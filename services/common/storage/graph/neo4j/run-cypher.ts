import type { Plan, Session } from 'neo4j-driver';
import neo4j from 'neo4j-driver';
import { engramError, isEngramError } from '../../../kernel/errors.ts';
import type { Json } from '../../../kernel/json.ts';
import type { DatasetScope } from '../../../kernel/scope.ts';
import { abortable } from '../../../platform/async/abortable.ts';
import { withTimeout } from '../../../platform/async/time-limit.ts';
import { DEFAULT_ROWS, DEFAULT_TIMEOUT_MS, MAX_ANSWER_LENGTH } from '../../cypher/budget.ts';
import { asSearchError, beingPrepared, cannotRun } from '../../cypher/errors.ts';
import { CypherRefusedError } from '../../cypher/tokens.ts';
import type { CypherQuery, CypherRows } from '../../ports/graph-store.ts';
import { datasetLabel } from '../../rules/stored-scope.ts';
import type { GraphView } from './graph-view.ts';
import type { Neo4jClient } from './neo4j-client.ts';
import { isDriverError } from './neo4j-errors.ts';
import { type TranslatedQuery, translateQuery, VIEW_KEY } from './print-query.ts';

/** Pause while another replica prepares the graph. */
const POLL_MS = 200;

/**
 * A client's query over the dataset's view. It is translated (`cypher/translate-query.ts`: reading only, every node bound
 * to the dataset), planned, and run in a READ transaction with a time limit.
 */
export function createCypherRunner(
  client: Neo4jClient,
  view: GraphView,
): (scope: DatasetScope, query: CypherQuery, signal?: AbortSignal) => Promise<CypherRows> {
  const refreshing = new Map<string, Promise<void>>();

  /** Runs one refresh of a dataset at a time; it goes on after its caller has given up. */
  async function refresh(scope: DatasetScope, query: CypherQuery): Promise<void> {
    const label = datasetLabel(scope);
    for (let running = refreshing.get(label); running; running = refreshing.get(label))
      await running.catch(() => undefined);
    const started = view.refresh(scope, query.committed).finally(() => refreshing.delete(label));
    refreshing.set(label, started);
    await started;
  }

  async function prepare(scope: DatasetScope, query: CypherQuery, signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        await refresh(scope, query);
        return;
      } catch (error) {
        if (signal.aborted || !isEngramError(error) || !error.retryable) throw error;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    }
  }

  return async (scope, query, signal) => {
    signal?.throwIfAborted();
    const maxRows = query.maxRows ?? DEFAULT_ROWS;
    const timeoutMs = query.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const translated = translate(query.text, datasetLabel(scope), maxRows);
    const preparation = new AbortController();
    try {
      const prepared = abortable(prepare(scope, query, preparation.signal), signal);
      await withTimeout(prepared, timeoutMs, () => {
        throw beingPrepared();
      });
    } finally {
      preparation.abort();
    }
    const read = (session: Session) => readRows(session, translated, maxRows, timeoutMs);
    return client.withSession('READ', read, { signal, timeoutMs }).catch(refusalOf);
  };
}

function translate(text: string, label: string, maxRows: number): TranslatedQuery {
  try {
    return translateQuery(text, label, maxRows);
  } catch (error) {
    return refusalOf(error);
  }
}

/** Error of the query for the client: its own words and names of the graph, no other data. */
function refusalOf(error: unknown): never {
  const known = asSearchError(error);
  if (known !== error) throw known;
  const failure = error instanceof Error && isDriverError(error.cause) ? error.cause : error;
  if (isDriverError(failure) && QUERY_AT_FAULT.test(failure.code)) {
    throw cannotRun(reasonOf(failure.message), error);
  }
  if (error instanceof Error && isDriverError(error.cause) && /OutOfMemory/.test(error.cause.code)) {
    throw engramError('CypherSearchError', 'The query needs too much memory.', { cause: error });
  }
  throw error;
}

/** Statements as such, and values that a function does not take, which the server counts among its own failures. */
const QUERY_AT_FAULT = /^Neo\.ClientError\.Statement\.|^Neo\.DatabaseError\.Statement\.ExecutionFailed$/;
const MAX_REASON_LENGTH = 300;

/** The server's first line, without the place, which is one of the translated query, and never with a label of ours. */
function reasonOf(message: string): string {
  const [line = ''] = message.split('\n');
  const reason = line.replace(/ \(line \d+, column .*$/, '').slice(0, MAX_REASON_LENGTH);
  return reason === '' || /D_\w|__Node__|Engram/i.test(reason) ? '' : reason;
}

async function readRows(
  session: Session,
  { statement, parameters, columns }: TranslatedQuery,
  maxRows: number,
  timeoutMs: number,
): Promise<CypherRows> {
  await checkPlan(session, statement, parameters);
  const transaction = await session.beginTransaction({ timeout: timeoutMs });
  try {
    const result = transaction.run(statement, parameters);
    const keys = await result.keys();
    const rows: (readonly Json[])[] = [];
    let length = 0;
    let isCut = false;
    for await (const record of result) {
      isCut = rows.length === maxRows;
      if (isCut) break;
      const row = keys.map((key) => jsonOf(record.get(key)));
      length += JSON.stringify(row).length;
      if (length > MAX_ANSWER_LENGTH) throw new CypherRefusedError('The answer is too large; use LIMIT.');
      rows.push(row);
    }
    return { columns: columns ?? keys.map(String), rows, isCut };
  } finally {
    await transaction.close();
  }
}

/** Operators that no translated query has: a second check, by the plan of the server. */
const FORBIDDEN_OPERATOR = /AllNodesScan|ProcedureCall|LoadCSV|ElementId|ByIdSeek/;

async function checkPlan(session: Session, statement: string, parameters: TranslatedQuery['parameters']) {
  const { summary } = await session.run(`EXPLAIN ${statement}`, parameters);
  const isForbidden =
    summary.queryType !== 'r' ||
    summary.plan === false ||
    operators(summary.plan).some((name) => FORBIDDEN_OPERATOR.test(name));
  if (isForbidden) throw new CypherRefusedError('The query does more than reading the dataset.');
}

function operators(plan: Plan): readonly string[] {
  return [plan.operatorType, ...plan.children.flatMap(operators)];
}

/**
 * A value of a query's result: nodes and relationships as their properties, a path as node, relation, node …, times as
 * ISO text, whole numbers beyond 2^53 as text.
 */
function jsonOf(value: unknown): Json {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(jsonOf);
  if (neo4j.isNode(value) || neo4j.isRelationship(value)) return objectOf(value.properties);
  if (neo4j.isPath(value)) {
    return [
      objectOf(value.start.properties),
      ...value.segments.flatMap(({ relationship, end }) => [relationship.type, objectOf(end.properties)]),
    ];
  }
  if (isPlain(value)) return objectOf(value);
  return String(value);
}

function objectOf(properties: object): Json {
  const entries = Object.entries(properties).filter(([key]) => key !== VIEW_KEY);
  return Object.fromEntries(entries.map(([key, value]) => [key, jsonOf(value)]));
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
