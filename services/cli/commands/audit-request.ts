import { type CommandCall, stringOption } from '../command.ts';
import { CliFailure, exitCodes } from '../terminal.ts';

export const AUDIT_PATH = '/api/v1/audit';

export function tenantQuery(call: CommandCall): Record<string, string> {
  const tenant = stringOption(call.options, 'tenant');
  return tenant === null ? {} : { tenant_id: tenant };
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
