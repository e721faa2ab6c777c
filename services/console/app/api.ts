import { ApiError, createEngram, NoAnswer } from '../../client/index.ts';

/** The API of the server that this page comes from; the login cookie goes along by itself. */
export const engram = createEngram({ baseUrl: window.location.origin, retries: 1 });

/** Address of a file, for links. */
export function address(path: string): string {
  return `/api/v1${path}`;
}

/** Returns the message of an error, for the person in front of the page. */
export function messageOf(error: unknown): string {
  if (error instanceof NoAnswer) return 'The server does not answer. Is it running?';
  // The name of the class in brackets is for programs.
  if (error instanceof ApiError) return error.detail.replace(/ \[\w+\]$/, '');
  return error instanceof Error ? error.message : 'An unknown error.';
}
