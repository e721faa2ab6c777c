import { readFile } from 'node:fs/promises';
import { parseJson } from '../../common/kernel/json.ts';
import { isRecord } from '../../common/kernel/objects.ts';
import type { AuditKey } from '../audit-check.ts';
import { type CommandCall, stringOption } from '../command.ts';
import { CliFailure, exitCodes, usageFailure } from '../terminal.ts';

export const AUDIT_PATH = '/api/v1/audit';

export function tenantQuery(call: CommandCall): Record<string, string> {
  const tenant = stringOption(call.options, 'tenant');
  return tenant === null ? {} : { tenant_id: tenant };
}

/** The keys of the server, or those in the file of `--keys`. */
export async function auditKeys(call: CommandCall): Promise<readonly AuditKey[]> {
  const file = stringOption(call.options, 'keys');
  if (file === null) return (await call.api.json<{ keys: readonly AuditKey[] }>('GET', `${AUDIT_PATH}/keys`)).keys;
  const set = parseJson(await readFile(file, 'utf8').catch(unreadable('--keys: ', file)));
  if (isRecord(set) && Array.isArray(set['keys'])) return set['keys'] as AuditKey[];
  throw usageFailure(`--keys: '${file}' holds no JSON Web Key set`);
}

export function unreadable(option: string, file: string) {
  return (error: unknown): never => {
    throw usageFailure(`${option}'${file}' cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  };
}

/** The export of the tenant that the command names, as it comes in. */
export async function requestExport(call: CommandCall): Promise<AsyncIterable<Uint8Array>> {
  const log = await call.api.stream('GET', `${AUDIT_PATH}/export`, { query: tenantQuery(call) });
  return untilBroken(log);
}

async function* untilBroken(log: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* log;
  } catch (error) {
    throw new CliFailure('The server stopped sending before the end of the log.', exitCodes.unreachable, {
      cause: error,
    });
  }
}
