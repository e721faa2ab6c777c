import { parentPort } from 'node:worker_threads';
import { compare } from 'bcryptjs';

export interface BcryptJob {
  readonly password: string;
  readonly hash: string;
}

/** Answers whether the password is the one of the hash. */
parentPort?.on('message', ({ password, hash }: BcryptJob) => {
  void compare(password, hash).then((isRight) => parentPort?.postMessage(isRight));
});
