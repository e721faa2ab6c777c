/** Beyond this a password is a way to keep the hash busy, not a secret. */
export const MAX_PASSWORD_LENGTH = 4096;

/** Why a password cannot be taken, as the wire words it; null when it can. */
export function passwordProblem(
  password: string,
  { minPasswordLength }: { readonly minPasswordLength: number },
): string | null {
  if ([...password].length < minPasswordLength) return `Password should be at least ${minPasswordLength} characters`;
  if (password.length > MAX_PASSWORD_LENGTH) return `Password should be at most ${MAX_PASSWORD_LENGTH} characters`;
  return null;
}
