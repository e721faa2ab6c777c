/** A time as Kubernetes' `MicroTime` wants it: with six digits of the second. */
export function microTime(time: Date): string {
  return time.toISOString().replace('Z', '000Z');
}
