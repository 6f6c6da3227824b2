/** Resources that one watch follows. */
export const MOST_FOLLOWED = 1_000;
