"""Teams on this machine: replicas of their memories, and the decisions that wait to be sent."""
