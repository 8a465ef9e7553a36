pose m.a
pose n.a
pose k.a
