import type { EngramError } from '../../services/common/kernel/errors.ts';
import { HttpError } from '../../services/common/platform/http/http-error.ts';

/** What a caller would be told that may not do this. */
export async function refusalOf(work: Promise<unknown>): Promise<{ readonly status: number; readonly text: string }> {
  try {
    await work;
  } catch (error) {
    if (error instanceof HttpError) return { status: error.status, text: JSON.stringify(error.body) };
    const { status, detail } = error as { status: number; detail: string };
    return { status, text: detail };
  }
  throw new Error('expected a refusal');
}

/** The `error` of a refusal as OAuth has it, or the name of another error. */
export async function refusedAs(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error instanceof HttpError ? (error.body as { error: unknown }).error : (error as Error).name;
  }
  throw new Error('expected a refusal');
}

/** The error that a promise rejects with. */
export async function rejection<Fault extends Error = EngramError & { readonly [key: string]: unknown }>(
  work: Promise<unknown>,
): Promise<Fault> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error) return error as Fault;
    throw new TypeError(`Rejected with ${String(error)}, which is no Error`);
  }
  throw new Error('expected a rejection');
}
