/** Kind of the jobs that build a dataset. */
export const COGNIFY_JOB = 'cognify';
