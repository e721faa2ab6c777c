import { compare } from 'bcryptjs';

/** Whether the password is the one of the hash; in a worker process. */
export function verify({ password, hash }: { readonly password: string; readonly hash: string }): Promise<boolean> {
  return compare(password, hash);
}
