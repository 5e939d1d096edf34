// The labs by the folders that are their rooms, in the order of the page: the one list of them. State, figures, cards
// and what the build computes follow from it.
import { lab as agents } from './agents/lab';
import { lab as contexts } from './contexts/lab';
import { lab as entries } from './entries/lab';
import { lab as explanation } from './explanation/lab';
import { lab as latent } from './latent/lab';
import { lab as position } from './position/lab';
import { lab as prior } from './prior/lab';
import { lab as retrieval } from './retrieval/lab';
import { lab as sinks } from './sinks/lab';
import { lab as tokenPrior } from './token-prior/lab';

export const ROOMS = {
  position,
  latent,
  prior,
  'token-prior': tokenPrior,
  agents,
  retrieval,
  contexts,
  sinks,
  explanation,
  entries,
};
