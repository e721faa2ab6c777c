/** The result, or null in place of an error that says that there is none. Any other error is thrown. */
export async function nullIf<Result>(
  isAbsence: (error: unknown) => boolean,
  work: Promise<Result>,
): Promise<Result | null> {
  try {
    return await work;
  } catch (error) {
    if (isAbsence(error)) return null;
    throw error;
  }
}
