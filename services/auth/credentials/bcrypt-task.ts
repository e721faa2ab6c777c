import { compare } from 'bcryptjs';

/** Whether the password has the hash; runs in a worker process. */
export function verify({ password, hash }: { readonly password: string; readonly hash: string }): Promise<boolean> {
  return compare(password, hash);
}
