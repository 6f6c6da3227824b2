import { refuseAsProblem } from '../../../base/http/http-refusals.ts';

/** Told to programs, and to people without a session. */
export function notAPerson(): Response {
  return refuseAsProblem(
    401,
    'This is for people. Run "bmad page" on the server’s machine and open the link it prints.',
    { 'www-authenticate': 'Bearer' },
  );
}
