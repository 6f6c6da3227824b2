/** What no agent or workflow is for. The threshold for weak hits was chosen on these and the tuning half. */
export const NONSENSE = [
  'make me a coffee',
  'le chat dort sur le canapé',
  'the weather is nice in Lisbon today',
  'what is the capital of Mongolia',
  'my grandmother bakes apple pies',
  'book a flight to Rome for two',
  'play some jazz music',
  'how tall is the Eiffel tower',
  'le train de huit heures est en retard',
  'quelle est la recette de la tarte aux pommes',
  'il pleut depuis trois jours',
  'réserver un hôtel à la montagne',
  'feed the dog and water the plants',
  'mon vélo a un pneu crevé',
  'who won the football match yesterday',
  'the cat knocked the vase off the shelf',
  'translate this poem into Japanese',
  'combien coûte un kilo de tomates',
  'je cherche un dentiste près de chez moi',
  'turn off the lights in the bedroom',
] as const;

/** Written afterwards, to see whether it holds. */
export const OTHER_NONSENSE = [
  'my shoes are wet',
  'how long do I boil an egg',
  'the moon is full tonight',
  'buy milk on the way home',
  'where did I park the car',
  'mes voisins partent en vacances',
  'le médecin est absent lundi',
  'à quelle heure ferme la piscine',
  'elle joue du piano le dimanche',
  'les fraises sont trop mûres',
] as const;
