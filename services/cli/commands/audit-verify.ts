import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type AuditKey, checkAudit } from '../audit-check.ts';
import { type CommandCall, stringOption } from '../command.ts';
import { count, print, printJson } from '../output.ts';
import { CliFailure, exitCodes, usageFailure } from '../terminal.ts';
import { AUDIT_PATH, requestExport } from './audit-request.ts';

export async function verifyAudit(call: CommandCall): Promise<number> {
  const expected = expectedHead(call);
  const keys = await keysFor(call, expected);
  const tenant = stringOption(call.options, 'tenant')?.toLowerCase() ?? null;
  const verdict = await checkAudit(linesOf(await openLog(call)), { keys, head: expected, tenant });
  if (!verdict.ok) {
    if (call.asJson) printJson(call, verdict);
    throw new CliFailure(`The log is not what was recorded: ${verdict.text}.`, exitCodes.failed);
  }
  const { head } = verdict;
  if (call.asJson) {
    printJson(call, { ok: true, tenant: head.tenant, records: head.number, head: head.hash, signed: keys !== null });
    return exitCodes.ok;
  }
  const signature = keys === null ? 'signature not checked (--keys)' : `signed ${head.signedAt}`;
  print(call, `${count(head.number, 'record')} of ${head.tenant}, unbroken; ${signature}\nhead ${head.hash}`);
  return exitCodes.ok;
}

function expectedHead(call: CommandCall): string | null {
  const given = stringOption(call.options, 'expect-head');
  if (given !== null && !/^[0-9a-f]{64}$/i.test(given)) throw usageFailure('--expect-head: a hash has 64 hex digits');
  return given?.toLowerCase() ?? null;
}

/** A file with an expected head needs no server; otherwise the server is asked for its keys. */
async function keysFor(call: CommandCall, expected: string | null): Promise<readonly AuditKey[] | null> {
  const file = stringOption(call.options, 'keys');
  if (file === null && expected !== null && stringOption(call.options, 'file') !== null) return null;
  const { keys } =
    file === null
      ? await call.api.json<{ keys: readonly AuditKey[] }>('GET', `${AUDIT_PATH}/keys`)
      : parseKeys(file, await readFile(file, 'utf8').catch(unreadable('--keys', file)));
  return keys;
}

function parseKeys(file: string, text: string): { readonly keys: readonly AuditKey[] } {
  try {
    const { keys } = JSON.parse(text) as { keys?: unknown };
    if (Array.isArray(keys)) return { keys: keys as AuditKey[] };
  } catch {
    // said below
  }
  throw usageFailure(`--keys: '${file}' holds no JSON Web Key set`);
}

async function openLog(call: CommandCall): Promise<AsyncIterable<Uint8Array>> {
  const file = stringOption(call.options, 'file');
  if (file === null) return requestExport(call);
  const stream = createReadStream(file);
  await once(stream, 'open').catch(unreadable('--file', file));
  return stream;
}

function unreadable(option: string, file: string) {
  return (error: unknown): never => {
    throw usageFailure(`${option}: '${file}' cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  };
}

/** Only a line feed ends a line of an export: texts inside it may hold other line separators. */
async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of bytes) {
    const lines = `${rest}${decoder.decode(piece, { stream: true })}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
