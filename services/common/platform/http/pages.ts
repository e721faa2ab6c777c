import { acceptsPage } from './error-page.ts';
import type { Reply } from './route.ts';

type Headers = Readonly<Record<string, string | undefined>>;

/** Pages for people, which `/` and addresses that no route takes answer to browsers. */
export interface Pages {
  /** The page, which shows what its address names. */
  page(path: string): Promise<Reply>;
  /** A file that the page loads. */
  asset(name: string, headers: Headers): Promise<Reply>;
}

/** Paths of programs: what is wrong with them is said by the page of errors. */
const PROGRAMS = /^\/(api|scim|assets|docs|\.well-known)(\/|$)/;

/** Whether a person in a browser opens an address that the console may have a page for. */
export function opensConsole(method: string, path: string, accept: string | undefined): boolean {
  return method === 'GET' && !PROGRAMS.test(path) && acceptsPage(accept);
}
