"""The toy world: scenes (what is where in each frame), their pictures, sounds, actions and captions."""
