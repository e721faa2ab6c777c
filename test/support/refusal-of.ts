import { type EngramError, isEngramError } from '../../services/common/kernel/errors.ts';
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

/** Status and body of the answer to a request that is refused. Any other error is thrown. */
export async function failureOf(work: Promise<unknown>): Promise<{ readonly status: number; readonly body: unknown }> {
  const error = await rejection<Error>(work);
  if (error instanceof HttpError) return { status: error.status, body: error.body };
  if (isEngramError(error)) return { status: error.status, body: { detail: error.detail } };
  throw error;
}

/** Name, status and message of a known error. Any other one is thrown. */
export async function faultOf(work: Promise<unknown>) {
  const error = await rejection<Error>(work);
  if (!isEngramError(error)) throw error;
  return { name: error.wireName, status: error.status, message: error.message };
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
