import { BmadError } from '../../src/base/errors.ts';

/** What `act` throws or rejects with; it is a failure of the test when that is nothing or not one of our errors. */
export async function refusal(act: () => unknown): Promise<BmadError> {
  const thrown = await thrownBy(act);
  if (thrown instanceof BmadError) return thrown;
  throw new Error(`a BmadError was expected, not ${String(thrown)}`);
}

export async function thrownBy(act: () => unknown): Promise<unknown> {
  try {
    await act();
  } catch (error) {
    return error;
  }
  throw new Error('an error was expected, and none was thrown');
}
