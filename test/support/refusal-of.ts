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
